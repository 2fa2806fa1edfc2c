import type { LedgerMark, LedgerState } from "@durable-payments/ledger";
import { failureTypes } from "@durable-payments/protocol/calls";
import { queryText, WAIT, waitActivityId } from "@durable-payments/protocol";
import { WorkflowNotFoundError } from "@temporalio/client";
import { type Acting, actorOf } from "../acting.ts";
import type { Operations } from "../connection/operations.ts";
import { readFailedRun } from "../retry/failed-run.ts";

/** What a recovery finds, and what it does about it. */
export interface RecoveryReport {
  readonly ledger: LedgerState;
  /** Writes that may have been carried out: they are reconciled. */
  readonly unknown: number;
  /** Ends of workflow ids that Temporal remembers and the ledger does not: recorded again. */
  readonly ends: ReadonlyArray<string>;
  /** Waits that Temporal remembers and the ledger does not: opened again. */
  readonly waits: number;
  /** Runs that the ledger remembers and Temporal does not: start them again by the same id and input. */
  readonly lostRuns: ReadonlyArray<string>;
  /** The new epoch; undefined for a dry run. */
  readonly mark: LedgerMark | undefined;
}

/** How a recovery is done. */
export interface RecoverOptions extends Acting {
  /** When the copy was made that was restored; default: a week ago. */
  readonly since?: Date | undefined;
  readonly isDryRun: boolean;
}

const WEEK_MS = 7 * 86_400_000;
const MOST = 100_000;

/** Workflow ids whose latest run failed because a person had ended it, and whose end the ledger has lost. */
const findEnds = async (
  { client, ledger }: Operations,
  since: Date,
): Promise<ReadonlyArray<string>> => {
  const ends: Array<string> = [];
  const seen = new Set<string>();
  const query = `ExecutionStatus = "Failed" AND CloseTime >= ${queryText(since.toISOString())}`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 1_000 })) {
    if (seen.has(workflowId)) continue;
    seen.add(workflowId);
    const { failure } = await readFailedRun(client, workflowId);
    if (failure?.type !== failureTypes.ended && failure?.type !== failureTypes.rejected) continue;
    const decisions = await ledger.decisionsOf(workflowId);
    // One that was overruled since is known.
    if (!decisions.some(({ kind }) => kind === "end" || kind === "overrule")) ends.push(workflowId);
  }
  return ends;
};

/** Opens the waits of open runs again. */
const restoreWaits = async (
  { account, client, ledger }: Operations,
  isDryRun: boolean,
): Promise<number> => {
  const known = new Set(
    (await ledger.waits({ isOpen: true, limit: MOST })).map(
      ({ activityId, runId }) => `${runId} ${activityId}`,
    ),
  );
  let restored = 0;
  for await (const { runId, workflowId } of client.workflow.list({
    query: 'ExecutionStatus = "Running"',
    pageSize: 1_000,
  })) {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    for (const { activityId, activityType } of raw.pendingActivities ?? []) {
      for (const kind of ["payout", "cardholder", "balance"] as const) {
        const begin = waitActivityId(WAIT[kind], "");
        if (activityType?.name !== WAIT[kind] || !activityId?.startsWith(begin)) continue;
        if (known.has(`${runId} ${activityId}`)) continue;
        restored += 1;
        const thing = activityId.slice(begin.length);
        if (!isDryRun) {
          await ledger.openWait({ account, workflowId, runId, activityId, kind, thing });
        }
      }
    }
  }
  return restored;
};

const findLostRuns = async (
  { client, ledger }: Operations,
  since: Date,
): Promise<ReadonlyArray<string>> => {
  const runs = await ledger.runs({ limit: MOST });
  const lost: Array<string> = [];
  for (const { startedAt, workflowId } of runs) {
    if (startedAt < since.getTime()) break;
    try {
      await client.workflow.getHandle(workflowId).describe();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      lost.push(workflowId);
    }
  }
  return lost;
};

/**
 * Recovers after Temporal's database or the ledger was restored to an earlier copy: says what is known, records ends
 * and waits that the ledger has lost, and begins a new epoch, in which no earlier row proves that nothing was sent.
 * Sends that were stopped are allowed again.
 *
 * @param options who recovers and why, since when, and whether it is only reported.
 * @returns what was found.
 */
export const recover = async (
  operations: Operations,
  { isDryRun, since = new Date(Date.now() - WEEK_MS), ...acting }: RecoverOptions,
): Promise<RecoveryReport> => {
  const { account, ledger } = operations;
  const actor = actorOf(acting, !isDryRun);
  const state = await ledger.state();
  const unknown = await ledger.rows({ states: ["sending", "unknown", "asking"], limit: MOST });
  const ends = await findEnds(operations, since);
  const lostRuns = await findLostRuns(operations, since);
  const waits = await restoreWaits(operations, isDryRun);
  const report = { ledger: state, unknown: unknown.length, ends, waits, lostRuns };
  if (isDryRun) return { ...report, mark: undefined };
  // Before sends are allowed again.
  for (const workflowId of ends) {
    await ledger.decide({
      account,
      workflowId,
      step: null,
      kind: "end",
      question: null,
      ...actor,
      value: { recovered: true },
    });
  }
  return { ...report, mark: await ledger.recover(actor) };
};
