import { type Ledger, limitsId } from "@durable-payments/ledger";
import type {
  NotificationData,
  NotificationType,
  NotifierState,
  QueuedNotification,
} from "@durable-payments/protocol/notifications";
import { listedRuns, OPEN_RUNS, webUiLink } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
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

/** By Temporal's codes of a run's status. */
const ENDED: Readonly<Record<number, string>> = { 3: "failed", 5: "terminated", 7: "timedOut" };

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

/** A run of a payment. Times are milliseconds since 1970. */
interface FoundRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly status: number;
  readonly startedAt: number;
  readonly closedAt: number | undefined;
}

/** The runs of payments that a query of Temporal's visibility finds. */
const listPayments = async (
  client: Client,
  { ledger, taskQueue }: LookOptions,
  query: string,
): Promise<ReadonlyArray<FoundRun>> => {
  const runs: Array<FoundRun> = [];
  for await (const run of listedRuns(client, query)) {
    const queue = run.taskQueue ?? "";
    // Batches have a queue that is named after it.
    if (queue !== taskQueue && !queue.startsWith(`${taskQueue}/`)) continue;
    runs.push({
      workflowId: run.execution?.workflowId ?? "",
      runId: run.execution?.runId ?? "",
      workflowType: run.type?.name ?? "",
      status: run.status ?? 0,
      startedAt: optionalTsToMs(run.startTime) ?? 0,
      closedAt: optionalTsToMs(run.closeTime),
    });
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
    const { ownerId: workflowId, step } = row;
    const data = { workflowId, runId: row.runId, state: "attention", stage: step };
    return [{ type: "run.asks", at: row.question.since, which: row.question.id, data }];
  });

/** Each batch that waits for its approval, once. */
const findAsking = async ({ ledger }: LookOptions): Promise<ReadonlyArray<Occurrence>> =>
  (await ledger.batches({ states: ["needsApproval"] })).map(
    ({ createdAt, id, type: workflowType }) => {
      const data = { workflowId: id, workflowType, state: "attention", batch: id };
      return { type: "batch.asks", at: createdAt, which: id, data };
    },
  );

/** Each request for looser limits of an account, once. */
const findLimits = async ({ ledger }: LookOptions): Promise<ReadonlyArray<Occurrence>> => {
  const accounts = await ledger.limitedAccounts();
  const found = await Promise.all(accounts.map((account) => ledger.limits(account)));
  return found.flatMap(({ pending }, index): ReadonlyArray<Occurrence> => {
    if (pending === undefined) return [];
    const workflowId = limitsId(accounts[index] ?? "");
    const data = { workflowId, state: "attention" };
    return [
      { type: "limits.ask", at: pending.at, which: `${workflowId} ${pending.sequence}`, data },
    ];
  });
};

const findFailed = async (client: Client, options: LookOptions, from: number) => {
  const query = `CloseTime >= ${timeText(from)} AND ExecutionStatus IN ("Failed", "TimedOut", "Terminated")`;
  return (await listPayments(client, options, query)).map((run): Occurrence => {
    const { closedAt, runId, startedAt, status, workflowId, workflowType } = run;
    const data = { workflowId, runId, workflowType, state: ENDED[status] ?? "failed" };
    return { type: "run.failed", at: closedAt ?? startedAt, which: runId, data };
  });
};

const findOverdue = async (client: Client, options: LookOptions, from: number, now: number) => {
  const { overdueAfterMs } = options;
  const query = `${OPEN_RUNS} AND StartTime >= ${timeText(from - overdueAfterMs)} AND StartTime <= ${timeText(now - overdueAfterMs)}`;
  return (await listPayments(client, options, query)).map((run): Occurrence => {
    const { runId, startedAt, workflowId, workflowType } = run;
    const data = { workflowId, runId, workflowType, state: "running" };
    return { type: "run.overdue", at: startedAt + overdueAfterMs, which: runId, data };
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
    ...(await findAsking(options)),
    ...(await findLimits(options)),
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
        const { batch } = one.data;
        const rows = batch && (await rowsOf(options.ledger, batch));
        const data = { ...one.data, ...(rows && { rows }) };
        return { id, notification: worded({ ...one, data }, options) };
      }),
  );
  return { found, told: seen.flatMap(({ id }) => (known.has(id) ? [id] : [])) };
};
