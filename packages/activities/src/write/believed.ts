/**
 * Compares what a run believes with the ledger.
 *
 * The results of activities are the run's memory, and anyone with access to Temporal can write them: `temporal activity
 * complete` ends a wait that nothing has ended, and `fail` a send that is under way. A workflow that believes it pays
 * the same thing by another step, or pays a beneficiary of somebody's choice. So each write names the outcomes that its
 * run has believed since the last one, and is not sent before the ledger agrees. The write before has compared those
 * before it, and its own outcome is compared here.
 *
 * A ledger that was restored, or lost, has forgotten results that runs were given: it would never agree, and every run
 * under way would wait for good. The person who calls `recover` decides that Temporal remembers them. So a result
 * counts if the ledger may have forgotten it, as it does when it is undone. A failure proves nothing about a send that
 * the copy has under way: that is reconciled first.
 */
import type { Ledger, Look, WriteName, WriteRow } from "@durable-payments/ledger";
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
import { lookOf } from "../wait-readings.ts";
import type { Attempt } from "./guard.ts";
import { StepFailed } from "./outcomes.ts";

/** Returns the name of the row of a step: its key decides, or else the workflow id, which Temporal says. */
export const rowNameOf = (
  account: string,
  workflowId: string,
  { key, operation, step }: Pick<UndoCall, "key" | "operation" | "step">,
): WriteName =>
  key === undefined ? { account, workflowId, step } : keyedName(account, operation, key);

const UNDOES = "undo ";

/** Returns the name of the row that undoes a generation of a write: a repeated write is undone again. */
export const undoNameOf = (name: WriteName, generation: number): WriteName => ({
  ...name,
  step: `${UNDOES}${name.step}${generation === 1 ? "" : ` ${generation}`}`,
});

/**
 * Whether the run of a row may wait for it under another name than that of its step: a key is of any step, and an undo
 * waits under the name of the step that it undoes.
 */
export const mayHaveOtherName = ({
  ownerId,
  step,
  workflowId,
}: Pick<WriteRow, "ownerId" | "step" | "workflowId">): boolean =>
  workflowId !== ownerId || step.startsWith(UNDOES);

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

/** Whether a recovered ledger may lack the outcome of a step: its row, or what came after the copy of its row. */
const mayBeForgotten = async ({ epoch, recoveredAt, row }: Look, { describe }: Attempt) => {
  if (row !== undefined) return row.epoch < epoch && row.state !== "done" && row.state !== "undone";
  return recoveredAt !== null && (await describe()).begunAt < recoveredAt;
};

interface AgreementOptions {
  readonly account: string;
  readonly ledger: Ledger;
  readonly runtime: PaymentsRuntime;
  /** Reconciles a row of an open run, and sends nothing. */
  readonly settle: (attempt: Attempt, name: WriteName) => Promise<unknown>;
}

/** Makes the comparison of what runs believe with the ledger, and with the service if the ledger has forgotten a wait. */
export const makeAgreement =
  ({ account, ledger, runtime, settle }: AgreementOptions) =>
  /** Returns why the ledger does not agree; undefined if it does. */
  async (
    believed: ReadonlyArray<Believed>,
    attempt: Attempt,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const { workflowId } = attempt;
    const isMade = async (one: Believed, isOwn: boolean): Promise<boolean> => {
      const { key, operation = "", step = "" } = one;
      const name = rowNameOf(account, workflowId, { operation, step, ...(key && { key }) });
      const look = async (): Promise<Look> => {
        const seen = await ledger.look(name);
        if (isOwn) return seen;
        const row = (await ledger.rowsOf(name.workflowId)).find(
          (other) => other.step === name.step,
        );
        return { ...seen, row };
      };
      const seen = await look();
      if (isAsBelieved(seen.row, one)) return true;
      if (!(await mayBeForgotten(seen, attempt))) return false;
      if (one.ids !== undefined) return true;
      if (!isOwn) return false;
      try {
        await settle(attempt, name);
      } catch (error) {
        // It is reconciled: nothing was made.
        if (!(error instanceof StepFailed)) throw error;
      }
      return isAsBelieved((await look()).row, one);
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
        wait === undefined ? await isMade(one, isOwn) : await isEnded(wait, outcome, isOwn);
      if (!isTrue)
        return `In this run, ${wait ?? step} ended as ${outcome ?? ids?.join(", ")}, which the ledger does not confirm. If somebody completed the activity by hand, reset the run to an event before that.`;
    }
    return undefined;
  };
