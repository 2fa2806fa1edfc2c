import type { Row, Target } from "./row.ts";

const WIDTH = 80;
const NUMBER = 9;

/** Three significant digits, and every digit before the point. */
export const figure = (value: number): string =>
  Math.abs(value) >= 100 || value === 0
    ? String(Math.round(value))
    : String(Number(value.toPrecision(3)));

const ratio = (value: number): string => value.toFixed(2);

const asked = (target: Target | undefined): string => {
  if (target === undefined) return "";
  return "atMost" in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`;
};

const result = ({ met }: Row): string => (met === undefined ? "" : met ? "met" : "missed");

const columns = (cells: ReadonlyArray<string>): string =>
  `  ${cells.map((cell) => cell.padStart(NUMBER)).join("")}`;

const line = (row: Row): string =>
  `${columns([
    figure(row.ours),
    figure(row.baseline),
    ratio(row.ratio),
    row.interval
      .map(ratio)
      .join("–")
      .padStart(NUMBER + 4),
    asked(row.target),
  ])}   ${result(row)}`.trimEnd();

const title = ({ name, unit }: Row): string => {
  const text = `${name}, ${unit}`;
  return text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text;
};

/** The rows as a table of at most 80 columns: each one's name, then its figures below. */
export const tableOf = (rows: ReadonlyArray<Row>): string =>
  [
    columns(["ours", "baseline", "ratio", "95 % interval".padStart(NUMBER + 5), "target"]),
    ...rows.flatMap((row) => [title(row), line(row)]),
    "",
  ].join("\n");
