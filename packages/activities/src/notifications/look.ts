import type { Ledger } from "@durable-payments/ledger";
import type {
  NotificationData,
  NotificationType,
  NotifierState,
  QueuedNotification,
} from "@durable-payments/protocol/notifications";
import { OPEN_RUNS, webUiLink } from "@durable-payments/protocol";
import { runStep } from "@durable-payments/protocol/calls";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { createHash } from "node:crypto";

/** The scope of the notifications, and the time after which a run is overdue. */
export interface LookOptions {
  readonly ledger: Ledger;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly overdueAfterMs: number;
  /** Address of Temporal's Web UI. */
  readonly webUi?: string | undefined;
}

/** How late Temporal may list that a run has ended. */
export const LAG_MS = 10 * 60_000;

const ID_DIGITS = 32;

const ENDED: Readonly<Record<string, string>> = {
  FAILED: "failed",
  TIMED_OUT: "timedOut",
  TERMINATED: "terminated",
};

/** The same for the same occurrence, whichever worker finds it. */
const idOf = (...of: ReadonlyArray<string>): string =>
  `msg_${createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, ID_DIGITS)}`;

/** No command is shown for an id with characters that a terminal would alter. */
const isPlain = (workflowId: string): boolean => /^[\w.@:/+-]+$/.test(workflowId);

const timeText = (time: number): string => `"${new Date(time).toISOString()}"`;

/** An occurrence, and its notification. */
interface Occurrence {
  readonly type: NotificationType;
  readonly at: number;
  readonly which: string;
  readonly data: Partial<NotificationData> & { readonly workflowId: string };
}

/** The runs of payments that a query of Temporal's visibility finds. */
const listPayments = async (
  client: Client,
  { ledger, taskQueue }: LookOptions,
  query: string,
): Promise<ReadonlyArray<WorkflowExecutionInfo>> => {
  const runs: Array<WorkflowExecutionInfo> = [];
  for await (const run of client.workflow.list({ query })) {
    // Batches have a queue that is named after it.
    if (run.taskQueue === taskQueue || run.taskQueue.startsWith(`${taskQueue}/`)) runs.push(run);
  }
  const workflowIds = [...new Set(runs.map(({ workflowId }) => workflowId))];
  const known = workflowIds.length === 0 ? [] : await ledger.runs({ workflowIds });
  const payments = new Set(known.map(({ workflowId }) => workflowId));
  return runs.filter(({ workflowId }) => payments.has(workflowId));
};

/** Each question once, including those of ended runs. */
const findQuestions = async ({ ledger }: LookOptions): Promise<ReadonlyArray<Occurrence>> =>
  (await ledger.rows({ needsPerson: true })).flatMap((row) => {
    if (row.question === null) return [];
    const { step, workflowId } = runStep(row);
    const data = { workflowId, runId: row.runId, state: "attention", stage: step };
    return [{ type: "run.asks", at: row.question.since, which: row.question.id, data }];
  });

const findFailed = async (client: Client, options: LookOptions, from: number) => {
  const query = `CloseTime >= ${timeText(from)} AND ExecutionStatus IN ("Failed", "TimedOut", "Terminated")`;
  return (await listPayments(client, options, query)).map((run): Occurrence => {
    const { closeTime, runId, startTime, status, type: workflowType, workflowId } = run;
    const data = { workflowId, runId, workflowType, state: ENDED[status.name] ?? status.name };
    return { type: "run.failed", at: +(closeTime ?? startTime), which: runId, data };
  });
};

const findOverdue = async (client: Client, options: LookOptions, from: number, now: number) => {
  const { overdueAfterMs } = options;
  const query = `${OPEN_RUNS} AND StartTime >= ${timeText(from - overdueAfterMs)} AND StartTime <= ${timeText(now - overdueAfterMs)}`;
  return (await listPayments(client, options, query)).map((run): Occurrence => {
    const { runId, startTime, type: workflowType, workflowId } = run;
    const data = { workflowId, runId, workflowType, state: "running" };
    return { type: "run.overdue", at: +startTime + overdueAfterMs, which: runId, data };
  });
};

/** Only the latest: every batch that ever ended would grow the state until no heartbeat takes it. */
const findBatches = async (
  { ledger }: LookOptions,
  from: number,
  now: number,
): Promise<ReadonlyArray<Occurrence>> =>
  (await ledger.batches({ finishedWithinMs: now - from })).map(({ id, type: workflowType }) => {
    const data = { workflowId: id, workflowType, state: "completed", batch: id };
    return { type: "batch.ended", at: now, which: id, data };
  });

/** How many rows of a batch have ended how. */
const rowsOf = async (ledger: Ledger, batch: string): Promise<Readonly<Record<string, number>>> => {
  const rows: Record<string, number> = {};
  for (const { rows: count, state } of await ledger.batchCounts(batch)) {
    rows[state] = (rows[state] ?? 0) + count;
  }
  return rows;
};

const worded = (
  { at, data: { runId, workflowId, ...data }, type }: Occurrence,
  { namespace, taskQueue, webUi }: LookOptions,
): QueuedNotification["notification"] => ({
  type,
  timestamp: new Date(at).toISOString(),
  data: {
    namespace,
    taskQueue,
    workflowId,
    ...(runId && { runId }),
    ...data,
    ...(webUi !== undefined && {
      webUi: webUiLink(webUi, namespace, workflowId, runId),
    }),
    ...(isPlain(workflowId) && { command: `starter show ${workflowId}` }),
  },
});

/**
 * Finds occurrences after the mark of the state: items for a person and ended batches in the ledger, failed and overdue
 * runs in Temporal. Returns the notifications to post, in order of time, and the ids of earlier notifications whose occurrences last.
 */
export const look = async (client: Client, options: LookOptions, { from, told }: NotifierState) => {
  const now = Date.now();
  const seen = [
    ...(await findQuestions(options)),
    ...(await findFailed(client, options, from)),
    ...(await findOverdue(client, options, from, now)),
    ...(await findBatches(options, from, now)),
  ].map((one) => ({
    ...one,
    id: idOf(one.type, options.namespace, one.data.workflowId, one.which),
  }));
  const known = new Set(told);
  const found = await Promise.all(
    seen
      .filter(({ id }) => !known.has(id))
      .toSorted((one, other) => one.at - other.at)
      .map(async ({ id, ...one }) => {
        const isBatch = one.type === "batch.ended";
        const rows = isBatch && (await rowsOf(options.ledger, one.which));
        const data = { ...one.data, ...(rows && { rows }) };
        return { id, notification: worded({ ...one, data }, options) };
      }),
  );
  return { found, told: seen.flatMap(({ id }) => (known.has(id) ? [id] : [])) };
};
