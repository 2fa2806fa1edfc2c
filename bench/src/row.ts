import { medianSorted, quantile } from "simple-statistics";

/** The limit of a row's ratio. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** Ours against a baseline: figures of the same rounds, in their order. */
export interface Row {
  /** Names the comparison: `payout, ledger in SQLite`. */
  readonly name: string;
  readonly unit: string;
  readonly ours: ReadonlyArray<number>;
  readonly baseline: ReadonlyArray<number>;
  /** Left out where the row only informs. */
  readonly target?: Target;
}

/** Ours is no more than the baseline: a promise, or a budget. */
export const NO_MORE: Target = { atMost: 1 };

/** Returns a row of one figure. */
export const rowOf = (
  name: string,
  unit: string,
  [ours, baseline]: readonly [ours: number, baseline: number],
  target?: Target,
): Row => ({ name, unit, ours: [ours], baseline: [baseline], ...(target && { target }) });

/** Returns the figure below which a share of some figures is; NaN without any. */
export const atShare = (figures: ReadonlyArray<number>, share: number): number =>
  figures.length === 0 ? NaN : quantile([...figures], share);

const ascending = (values: ReadonlyArray<number>): Array<number> =>
  values.toSorted((one, other) => one - other);

/**
 * The medians over the rounds of a row, and that of the rounds' own ratios: each round is divided by its own baseline.
 *
 * @returns with the interval that has the true ratio in 95 of 100 measurements, by the order of the ratios alone, whatever
 *   their distribution is; of fewer than six rounds, the least and the largest ratio.
 */
export const summaryOf = ({ baseline, ours, target }: Row) => {
  const ratios = ascending(ours.map((value, round) => value / (baseline[round] ?? NaN)));
  const { length } = ratios;
  const outside = Math.max(0, Math.floor((length - 1.96 * Math.sqrt(length)) / 2));
  const ratio = medianSorted(ratios);
  return {
    ours: medianSorted(ascending(ours)),
    baseline: medianSorted(ascending(baseline)),
    ratio,
    interval: [ratios[outside] ?? NaN, ratios[length - 1 - outside] ?? NaN],
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
    ...rows.flatMap((row) => {
      const { baseline, interval, met, ours, ratio } = summaryOf(row);
      const { name, target, unit } = row;
      const isCompared = !Number.isNaN(ratio);
      const between = interval.map((one) => one.toFixed(2)).join("–");
      const asked = target && ("atMost" in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`);
      const compared = [figure(baseline), ratio.toFixed(2), between];
      const cells = [
        figure(ours),
        ...compared.map((cell) => (isCompared ? cell : "–")),
        asked ?? "",
      ];
      const result = met === undefined ? "" : met ? "met" : "missed";
      return [`${name}, ${unit}`, `${columns(...cells)} ${result}`.trimEnd()];
    }),
    "",
  ].join("\n");
