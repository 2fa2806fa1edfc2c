import { medianSorted, quantileSorted } from "simple-statistics";

/**
 * What is asked of a row: its ratio at most or at least so much, or that it is at most so much,
 * in its own unit, above its baseline.
 */
export type Target =
  | { readonly atMost: number }
  | { readonly atLeast: number }
  | { readonly atMostAbove: number };

/** Ours against a baseline of the same run. Figures are medians over the rounds. */
export interface Row {
  /** "scenario: what is compared with what". */
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly baseline: number;
  /** Median of the rounds' own ratios, ours / baseline. */
  readonly ratio: number;
  /** Lower and upper quartile of the rounds' ratios. */
  readonly spread: readonly [lower: number, upper: number];
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

const isMet = (
  target: Target,
  { ours, baseline, ratio }: Pick<Row, "ours" | "baseline" | "ratio">,
) => {
  if ("atMost" in target) return ratio <= target.atMost;
  if ("atLeast" in target) return ratio >= target.atLeast;
  return ours - baseline <= target.atMostAbove;
};

/**
 * The row of a comparison.
 *
 * @throws RangeError without rounds, or where ours and baseline have not the same number of them
 */
export const rowOf = ({ name, unit, ours, baseline, target }: Comparison): Row => {
  if (ours.length === 0 || ours.length !== baseline.length) {
    throw new RangeError(
      `${name}: ${ours.length} rounds of ours, ${baseline.length} of its baseline.`,
    );
  }
  const ratios = ascending(
    ours.flatMap((value, round) => {
      const other = baseline[round];
      return other === undefined ? [] : [value / other];
    }),
  );
  const medians = {
    ours: medianSorted(ascending(ours)),
    baseline: medianSorted(ascending(baseline)),
    ratio: medianSorted(ratios),
  };
  return {
    name,
    unit,
    ...medians,
    spread: [quantileSorted(ratios, 0.25), quantileSorted(ratios, 0.75)],
    rounds: ours.length,
    target,
    met: target && isMet(target, medians),
  };
};
