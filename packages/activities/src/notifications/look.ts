import { redact } from "@durable-payments/client/effect";
import { type Ledger, limitsId } from "@durable-payments/ledger";
import type {
  NotificationData,
  NotificationType,
  NotifierState,
  QueuedNotification,
} from "@durable-payments/protocol/notifications";
import {
  endStateOf,
  listedRuns,
  OPEN_RUNS,
  queryTime,
  webUiLink,
} from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import { createHash } from "node:crypto";
import type { NotificationSettings } from "./webhook.ts";

/** The scope of the notifications, and the time after which a run is overdue. */
export interface LookOptions extends Pick<
  NotificationSettings,
  "lateAfterMs" | "overdueAfterMs" | "webUi"
> {
  readonly ledger: Ledger;
  readonly namespace: string;
  readonly taskQueue: string;
}

/** How late Temporal may list that a run has ended. */
export const LAG_MS = 10 * 60_000;

const ID_DIGITS = 32;

/** The same for the same occurrence, whichever worker finds it. */
const idOf = (...of: ReadonlyArray<string>): string =>
  `msg_${createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, ID_DIGITS)}`;

/** No command is shown for an id with characters that a terminal would alter. */
const isPlain = (workflowId: string): boolean => /^[\w.@:/+-]+$/.test(workflowId);

/** An occurrence, and its notification. */
interface Occurrence {
  readonly type: NotificationType;
  readonly at: number;
  readonly which: string;
  readonly data: Partial<NotificationData> & { readonly workflowId: string };
  /** Whether the same problem may end and occur again: each occurrence has another id. */
  readonly isRecurring?: true;
}

/** The runs of payments that a query of Temporal's visibility finds, as occurrences some time after their end or start. */
const findRuns = async (
  client: Client,
  { ledger, taskQueue }: LookOptions,
  type: NotificationType,
  query: string,
  afterMs = 0,
): Promise<ReadonlyArray<Occurrence>> => {
  const found: Array<Occurrence> = [];
  for await (const run of listedRuns(client, query)) {
    const queue = run.taskQueue ?? "";
    // Batches have a queue that is named after it.
    if (queue !== taskQueue && !queue.startsWith(`${taskQueue}/`)) continue;
    const runId = run.execution?.runId ?? "";
    const workflowId = run.execution?.workflowId ?? "";
    const state = endStateOf(run) ?? "running";
    const at = (optionalTsToMs(run.closeTime ?? run.startTime) ?? 0) + afterMs;
    const data = { workflowId, runId, workflowType: run.type?.name ?? "", state };
    found.push({ type, at, which: runId, data });
  }
  const workflowIds = [...new Set(found.map(({ data }) => data.workflowId))];
  const known = workflowIds.length === 0 ? [] : await ledger.runs({ workflowIds });
  const payments = new Set(known.map(({ workflowId }) => workflowId));
  return found.filter(({ data }) => payments.has(data.workflowId));
};

/** All that waits for a person, each once: questions, of ended runs, too; files; looser limits. */
const findAsking = async ({ ledger }: LookOptions): Promise<ReadonlyArray<Occurrence>> => {
  const state = "attention";
  const [rows, batches, accounts] = await Promise.all([
    ledger.rows({ needsPerson: true }),
    ledger.batches({ states: ["needsApproval"] }),
    ledger.limitedAccounts(),
  ]);
  const limits = await Promise.all(
    accounts.map(async (account) => ({ account, ...(await ledger.limits(account)) })),
  );
  return [
    ...rows.flatMap(({ ownerId: workflowId, question, runId, step }): ReadonlyArray<Occurrence> => {
      if (question === null) return [];
      const data = { workflowId, runId, state, stage: step };
      return [{ type: "run.asks", at: question.since, which: question.id, data }];
    }),
    ...batches.map(({ createdAt, id, type: workflowType }): Occurrence => {
      const data = { workflowId: id, workflowType, state, batch: id };
      return { type: "batch.asks", at: createdAt, which: id, data };
    }),
    ...limits.flatMap(({ account, pending }): ReadonlyArray<Occurrence> => {
      if (pending === undefined) return [];
      const data = { workflowId: limitsId(account), state };
      const which = `${data.workflowId} ${pending.sequence}`;
      return [{ type: "limits.ask", at: pending.at, which, data }];
    }),
  ];
};

/** Everything else that only a person can mend: one item for each account, word or file, however much it concerns. */
const findAttention = async ({
  lateAfterMs,
  ledger,
}: LookOptions): Promise<ReadonlyArray<Occurrence>> =>
  (await ledger.attention({ lateAfterMs })).map((item): Occurrence => {
    const { account, count, kind, message, money, of, since, workflowIds } = item;
    const [workflowId = ""] = workflowIds;
    const sums = Object.fromEntries(money.map(({ amount, currency }) => [currency, amount]));
    const reason = message ?? (kind === "word" ? of : undefined);
    return {
      type: "attention",
      at: since,
      which: [kind, account ?? "", of].join(" "),
      isRecurring: true,
      data: {
        workflowId,
        state: "attention",
        kind,
        count,
        ...(money.length > 0 && { sums }),
        ...(reason !== undefined && { reason: redact(reason) }),
      },
    };
  });

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
  for (const { rows: count, status } of await ledger.batchCounts(batch)) {
    rows[status] = (rows[status] ?? 0) + count;
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
    ...(isPlain(workflowId) && { command: `durable-payments show ${workflowId}` }),
  },
});

/**
 * Finds occurrences after the mark of the state: items for a person and ended batches in the ledger, failed and overdue
 * runs in Temporal. Returns the notifications to post, in order of time, and the ids of earlier notifications whose
 * occurrences last.
 */
export const look = async (client: Client, options: LookOptions, { from, told }: NotifierState) => {
  const now = Date.now();
  const { overdueAfterMs } = options;
  const failed = `CloseTime >= ${queryTime(from)} AND ExecutionStatus IN ("Failed", "TimedOut", "Terminated")`;
  const overdue = `${OPEN_RUNS} AND StartTime >= ${queryTime(from - overdueAfterMs)} AND StartTime <= ${queryTime(now - overdueAfterMs)}`;
  const seen = [
    ...(await findAsking(options)),
    ...(await findAttention(options)),
    ...(await findRuns(client, options, "run.failed", failed)),
    ...(await findRuns(client, options, "run.overdue", overdue, overdueAfterMs)),
    ...(await findBatches(options, from, now)),
  ].map((one) => ({
    ...one,
    // The examples of something that lasts change.
    id: idOf(
      one.type,
      options.namespace,
      ...(one.isRecurring ? [] : [one.data.workflowId]),
      one.which,
    ),
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
        return {
          id: one.isRecurring ? idOf(id, `${one.at}`) : id,
          known: id,
          notification: worded({ ...one, data }, options),
        };
      }),
  );
  return { found, told: seen.flatMap(({ id }) => (known.has(id) ? [id] : [])) };
};
