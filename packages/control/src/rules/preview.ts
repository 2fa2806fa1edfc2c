/*
 * The outcomes of a preview: it says how runs would continue if they were retried with other workflow code.
 *
 * A preview says what it knows. It does not know what the service shows today, so it ends where that would decide.
 */
import { moneyGroupOf, type WriteRow } from "@durable-payments/ledger";
import type { Frame } from "@durable-payments/replay";
import { type MoneyByKind, sumByKind } from "./run-view.ts";

/** How a run may continue, in the order of groups. */
const OUTCOMES = [
  /** It completes. */
  "completes",
  /** It waits until a second person has approved a write. */
  "approval",
  /** It asks a person about the outcome of a write. */
  "asks",
  /** It waits for a message, or for longer than two years. */
  "waits",
  /** It reaches an activity or an operation of the user's own, which a preview does not run. */
  "ownActivity",
  /** The outcome of an earlier send is unknown, and only the service can show it. */
  "unknown",
  /** It fails again. */
  "fails",
  /** The code does not replay what the retry keeps of its history. */
  "differs",
  /** The retry is refused. */
  "refused",
  /** Nothing happened for some minutes. */
  "unfinished",
] as const;

/** A write that would be sent. */
export interface PreviewedWrite {
  readonly step: string;
  readonly operation: string;
  /** Decimal string in units of `currency`; null if it moves no money. */
  readonly amount: string | null;
  readonly currency: string | null;
}

/** How one run would continue. */
export interface PreviewedRun {
  readonly workflowId: string;
  /** Workflow type; empty if the run was not found. */
  readonly type: string;
  readonly outcome: (typeof OUTCOMES)[number];
  /** The step at which it ends or waits, if that is known. */
  readonly step: string | null;
  /** The question, the failure, the difference, or the reason, for a person. */
  readonly why: string | null;
  /** Where its code fails or differs. */
  readonly lines: ReadonlyArray<Frame>;
  /** Steps that are kept: nothing is sent for them. */
  readonly kept: ReadonlyArray<string>;
  /** Writes that would be sent until then, in order. */
  readonly writes: ReadonlyArray<PreviewedWrite>;
}

/** Runs to which the same would happen. */
export interface PreviewedGroup {
  readonly type: string;
  readonly outcome: PreviewedRun["outcome"];
  readonly step: string | null;
  /** The reason of the first run. */
  readonly why: string | null;
  readonly workflowIds: ReadonlyArray<string>;
  /** Numbers of writes that would be sent, by operation. */
  readonly writes: Readonly<Record<string, number>>;
  /** Exact sums of what would be sent. */
  readonly money: MoneyByKind;
}

/** Ids and numbers in a sentence, by which equal reasons differ. */
const OF_ONE = /[\w-]*\d[\w-]*/g;

const keyOf = ({ outcome, step, type, why, workflowId }: PreviewedRun): string =>
  JSON.stringify([outcome, type, step, why?.replaceAll(workflowId, "").replaceAll(OF_ONE, "")]);

/** Groups runs to which the same would happen, in the order of `OUTCOMES` and of their ids. */
export const groupsOf = (runs: ReadonlyArray<PreviewedRun>): ReadonlyArray<PreviewedGroup> => {
  const byId = runs.toSorted((one, other) => one.workflowId.localeCompare(other.workflowId));
  const groups = [...Map.groupBy(byId, keyOf).values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const { outcome, step, type, why } = first;
    const all = of.flatMap(({ writes }) => writes);
    const byOperation = Map.groupBy(all, ({ operation }) => operation);
    const group = {
      type,
      outcome,
      step,
      why,
      workflowIds: of.map(({ workflowId }) => workflowId),
      writes: Object.fromEntries([...byOperation].map(([name, { length }]) => [name, length])),
      money: sumByKind(all.map((one) => ({ ...one, group: moneyGroupOf(one.operation) }))),
    };
    return [group];
  });
  return groups.toSorted(
    (one, other) => OUTCOMES.indexOf(one.outcome) - OUTCOMES.indexOf(other.outcome),
  );
};

/** Writes a row as a write that would be sent. */
export const writeOf = ({ operation, request, step }: WriteRow): PreviewedWrite => ({
  step,
  operation,
  amount: request.amount,
  currency: request.currency,
});
