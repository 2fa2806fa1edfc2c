import type { AuditEntry } from "@durable-payments/protocol";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { cannotConnect } from "../errors.ts";
import { fieldRows, time, wrap } from "../output/text.ts";
import { readPast } from "./retry/past.ts";
import { describeRun } from "./run-state.ts";
import type { KeptSettlement } from "./settlement.ts";
import { masked } from "./story/masked.ts";
import { noWorkerText } from "./workers.ts";

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
 * Asks a run, running or ended, for its audit trail.
 *
 * @throws NoWorker where no worker can answer
 */
export const auditRun = async (temporal: Temporal, workflowId: string): Promise<AuditReport> => {
  const { client, connection, settings } = temporal;
  const run = await describeRun(temporal, workflowId);
  const { runId, taskQueue } = run;
  const { settlements } = await readPast(temporal, run);
  try {
    const entries = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      client.workflow.getHandle(workflowId).query<ReadonlyArray<AuditEntry>>("audit"),
    );
    // An amendment is kept as the person gave it, account numbers and all.
    const all = [...entries, ...settlements.map(settledEntry)];
    return { workflowId, runId, entries: masked(all.toSorted((a, b) => (a.at < b.at ? -1 : 1))) };
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
    throw cannotConnect("NoWorker", noWorkerText(taskQueue, settings.namespace));
  }
};

const entryText = ({ at, detail = {}, key, step, what, who }: AuditEntry): string => {
  const told = [
    ...(key === undefined ? [] : [["key", key] as const]),
    ...fieldRows(detail).filter(([name]) => name !== ""),
  ].map(([name, value]) => `${name} ${value}`);
  const head = `${time(at)}  ${step}  ${what}${who === "run" ? "" : ` by ${who}`}`;
  return told.length === 0 ? head : `${head}\n${wrap(told.join(", "), "    ")}`;
};

/** An audit trail as a person reads it. */
export const auditText = ({ entries }: AuditReport): string =>
  entries.length === 0 ? "Nothing has happened yet." : entries.map(entryText).join("\n");
