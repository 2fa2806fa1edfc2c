import { medianSorted } from "simple-statistics";

/** The limit of a row's ratio. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** Ours against a baseline of the same run. Figures are medians over the rounds. */
export interface Row {
  /** "scenario: what is compared with what". */
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly baseline: number;
  /** Median of the rounds' own ratios, ours / baseline. */
  readonly ratio: number;
  /** In 95 of 100 measurements the true median is in it; of fewer than six rounds, the least and the largest ratio. */
  readonly interval: readonly [lower: number, upper: number];
  readonly rounds: number;
  /** Undefined where the row only informs. */
  readonly target: Target | undefined;
  readonly met: boolean | undefined;
}

/** Figures of the same rounds, in their order: a round's ours is divided by its own baseline. */
export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly ours: ReadonlyArray<number>;
  readonly baseline: ReadonlyArray<number>;
  readonly target?: Target;
}

const ascending = (values: ReadonlyArray<number>): Array<number> =>
  values.toSorted((one, other) => one - other);

/** By the order of the ratios alone, whatever their distribution is. */
const intervalOf = (ratios: ReadonlyArray<number>): Row["interval"] => {
  const { length } = ratios;
  const outside = Math.max(0, Math.floor((length - 1.96 * Math.sqrt(length)) / 2));
  return [ratios[outside] ?? NaN, ratios[length - 1 - outside] ?? NaN];
};

/** The row of a comparison. */
export const rowOf = ({ name, unit, ours, baseline, target }: Comparison): Row => {
  const ratios = ascending(ours.map((value, round) => value / (baseline[round] ?? NaN)));
  const ratio = medianSorted(ratios);
  return {
    name,
    unit,
    ours: medianSorted(ascending(ours)),
    baseline: medianSorted(ascending(baseline)),
    ratio,
    interval: intervalOf(ratios),
    rounds: ours.length,
    target,
    met: target && ("atMost" in target ? ratio <= target.atMost : ratio >= target.atLeast),
  };
};

/** Three significant digits, and every digit before the point. */
export const figure = (value: number): string =>
  Math.abs(value) >= 100 || value === 0
    ? String(Math.round(value))
    : String(Number(value.toPrecision(3)));

const columns = (...cells: ReadonlyArray<string>): string =>
  cells.map((cell) => cell.padStart(14)).join("");

/** The rows as a table of at most 80 columns: each one's name, then its figures below. */
export const tableOf = (rows: ReadonlyArray<Row>): string =>
  [
    columns("ours", "baseline", "ratio", "95 % interval", "target"),
    ...rows.flatMap(({ baseline, interval, met, name, ours, ratio, target, unit }) => {
      const between = interval.map((one) => one.toFixed(2)).join("–");
      const asked = target && ("atMost" in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`);
      const figures = columns(
        figure(ours),
        figure(baseline),
        ratio.toFixed(2),
        between,
        asked ?? "",
      );
      const result = met === undefined ? "" : met ? "met" : "missed";
      return [`${name}, ${unit}`, `${figures} ${result}`.trimEnd()];
    }),
    "",
  ].join("\n");
