import { Totals } from "../totals.ts";
import { isPlainAmount } from "./batch-content.ts";
import type { ListedRun } from "./listed-run.ts";
import type { StateName } from "./state-name.ts";

/** Runs that stand alike, and for the same reason. */
export interface RunGroup {
  readonly type: string;
  readonly state: StateName | "continuedAsNew";
  readonly stage: string | null;
  /** Why, with ids and amounts left out; null where nothing failed. */
  readonly reason: string | null;
  readonly count: number;
  /** Amounts by currency, as far as the runs say them. */
  readonly totals: Readonly<Record<string, string>>;
  /** One of them. */
  readonly example: string;
}

/** What differs from run to run: ids, numbers, amounts. */
const OWN = /\S*(?:[0-9a-f]{8}-[0-9a-f]{4}|\d{4}|\d\.\d)\S*/gi;

/** The reason of a failure without what is the run's own. */
const commonReason = ({ failure }: ListedRun): string | null =>
  failure?.message.replaceAll(OWN, "…") ?? null;

/**
 * Group runs by type, state, stage and reason.
 *
 * @param runs as `listRuns` finds them.
 * @returns the groups, the largest first.
 */
export const groupRuns = (runs: ReadonlyArray<ListedRun>): ReadonlyArray<RunGroup> => {
  const groups = Map.groupBy(runs, (run) =>
    JSON.stringify([run.type, run.state, run.stage, commonReason(run)]),
  );
  return [...groups.values()]
    .flatMap((alike) => {
      const [first] = alike;
      if (first === undefined) return [];
      const { stage, state, type, workflowId } = first;
      const reason = alike.length === 1 ? (first.failure?.message ?? null) : commonReason(first);
      const totals = totalsOf(alike);
      return [{ type, state, stage, reason, count: alike.length, totals, example: workflowId }];
    })
    .toSorted((a, b) => b.count - a.count);
};

/**
 * Sum what runs move, by currency.
 *
 * @param runs as `listRuns` finds them.
 * @returns decimal strings; of runs that do not say their amount nothing is in it.
 */
export const totalsOf = (
  runs: ReadonlyArray<Pick<ListedRun, "payment">>,
): Readonly<Record<string, string>> => {
  const totals = new Totals();
  for (const { payment } of runs) {
    // Whoever started the run wrote it.
    if (payment && isPlainAmount(payment.amount)) totals.add(payment.currency, payment.amount);
  }
  return totals.amounts;
};
