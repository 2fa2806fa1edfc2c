import { type AuditEntry, auditQuery } from "@durable-payments/protocol";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { ConnectionFailed } from "../errors.ts";
import { readExecutionHistory } from "../history/execution-history.ts";
import { describeRun } from "../runs/state.ts";
import type { KeptSettlement } from "../history/settlement.ts";
import { masked } from "../history/masked.ts";
import { noWorker } from "../connection/workers.ts";

/** Who or what did which step of a run when, with which key and outcome. */
export interface AuditReport {
  readonly workflowId: string;
  readonly runId: string;
  readonly entries: ReadonlyArray<AuditEntry>;
}

const PATIENCE_MS = 5_000;

/** What a person found out after the run had ended, which the run itself cannot know. */
const settledEntry = ({ at, by, found, reason, step }: KeptSettlement): AuditEntry => ({
  at: new Date(at).toISOString(),
  who: by,
  step,
  what: found === undefined ? "settled: not carried out" : "settled: carried out",
  detail: { reason, ...found },
});

/**
 * Read the audit trail of a run, running or ended: who or what did which step when.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @returns entries, oldest first, with values masked that must not be shown.
 * @throws NotFound where there is no such run; ConnectionFailed where no worker can answer.
 * @example
 * const { entries } = await auditRun(temporal, "invoice-2026-001");
 */
export const auditRun = async (temporal: Temporal, workflowId: string): Promise<AuditReport> => {
  const { client, connection, settings } = temporal;
  const run = await describeRun(temporal, workflowId);
  const { runId, taskQueue } = run;
  const { settlements } = await readExecutionHistory(temporal, run);
  try {
    const entries = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      client.workflow.getHandle(workflowId).query(auditQuery),
    );
    // An amendment is kept as the person gave it, account numbers and all.
    const all = [...entries, ...settlements.map(settledEntry)];
    return { workflowId, runId, entries: masked(all.toSorted((a, b) => (a.at < b.at ? -1 : 1))) };
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    throw new ConnectionFailed({
      reason: "noWorker",
      ...noWorker(taskQueue, settings.namespace),
    });
  }
};
