/**
 * Compares what a run believes with the ledger.
 *
 * The results of activities are the run's memory, and anyone with access to Temporal can write them: `temporal activity
 * complete` ends a wait that nothing has ended, and `fail` a send that is under way. A workflow that believes it pays
 * the same thing by another step, or pays a beneficiary of somebody's choice. So each write names the outcomes that its
 * run has believed since the last one, and is not sent before the ledger agrees. The write before has compared those
 * before it, and its own outcome is compared here.
 */
import type { Ledger, WriteName, WriteRow } from "@durable-payments/ledger";
import {
  accountOfQueue,
  type Believed,
  failureTypes,
  CANCELLED,
  keyedName,
  type UndoCall,
} from "@durable-payments/protocol/calls";
import { Context } from "@temporalio/activity";
import { Result } from "effect";
import { type PaymentsRuntime, runCall } from "../run-operation.ts";
import { lookOf } from "../waits.ts";

/** Returns the name of the row of a step: its key decides, or else the workflow id, which Temporal says. */
export const rowNameOf = (
  account: string,
  workflowId: string,
  { key, operation, step }: Pick<UndoCall, "key" | "operation" | "step">,
): WriteName =>
  key === undefined ? { account, workflowId, step } : keyedName(account, operation, key);

/** Failures of a step whose row may have a result: of another request, or of its own. */
const WITH_RESULT: ReadonlySet<unknown> = new Set([
  failureTypes.alreadyCarriedOut,
  failureTypes.madeTwice,
  CANCELLED,
]);

/** Whether a row has the result, or the failure, that a run believes. */
const isAsBelieved = (row: WriteRow | undefined, { ids, outcome }: Believed): boolean => {
  if (ids !== undefined) {
    if (row?.state !== "done" && row?.state !== "undone") return false;
    // A pruned row has its id alone.
    const known = new Set<unknown>([row.madeId, ...Object.values(row.result ?? {})]);
    return row.result === null || ids.every((id) => known.has(id));
  }
  if (row === undefined || ["ready", "refused", "ended", "undone"].includes(row.state)) return true;
  // A write that is safe to repeat stays unknown until it is called again.
  const isKnown = row.state === "done" || row.state === "asking" || row.request.amount === null;
  return isKnown && WITH_RESULT.has(outcome);
};

interface AgreementOptions {
  readonly account: string;
  readonly ledger: Ledger;
  readonly runtime: PaymentsRuntime;
}

/** Makes the comparison of what runs believe with the ledger, and with the service if the ledger has forgotten a wait. */
export const makeAgreement =
  ({ account, ledger, runtime }: AgreementOptions) =>
  /** Returns why the ledger does not agree; undefined if it does. */
  async (
    believed: ReadonlyArray<Believed>,
    workflowId: string,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const readRow = async ({ key, operation = "", step = "" }: Believed, isOwn: boolean) => {
      const name = rowNameOf(account, workflowId, { operation, step, ...(key && { key }) });
      if (isOwn) return (await ledger.look(name)).row;
      return (await ledger.rowsOf(name.workflowId)).find((row) => row.step === name.step);
    };
    const isEnded = async (wait: string, outcome: unknown, isOwn: boolean): Promise<boolean> => {
      const known = await ledger.waits({ workflowId, activityId: wait });
      if (known.some((one) => one.closedAt !== null && one.outcome?.["outcome"] === outcome))
        return true;
      const read = isOwn ? lookOf(wait, ledger, account) : undefined;
      if (read === undefined) return false;
      const seen = await runCall(runtime, read, signal);
      if (Result.isSuccess(seen)) return seen.success.seen.outcome === outcome;
      if (seen.failure._tag !== "InvalidRequest") throw seen.failure;
      return outcome === failureTypes.invalidRequest;
    };
    for (const one of believed) {
      const { ids, outcome, step, wait } = one;
      const isOwn = one.account === accountOfQueue(Context.current().info.taskQueue);
      const isTrue =
        wait === undefined
          ? isAsBelieved(await readRow(one, isOwn), one)
          : await isEnded(wait, outcome, isOwn);
      if (!isTrue)
        return `The run believes that ${wait ?? step} ended as ${outcome ?? ids?.join(", ")}, and the ledger does not. If somebody completed the activity by hand, reset the run to before that.`;
    }
    return undefined;
  };
