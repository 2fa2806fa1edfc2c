import type { Batch, Ledger, WriteRow } from "@durable-payments/ledger";
import type {
  NotificationData,
  NotifierState,
  QueuedNotification,
} from "@durable-payments/protocol/notifications";
import { runStep } from "@durable-payments/protocol/row-step";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { createHash } from "node:crypto";

/** Whose notifications they are, and by when a run is overdue. */
export interface LookOptions {
  readonly ledger: Ledger;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly overdueAfterMs: number;
  /** Address of Temporal's Web UI. */
  readonly webUi?: string | undefined;
}

/** Most notifications that wait to be delivered; with so many nothing further is looked for. */
export const MOST_QUEUED = 500;

/** How late Temporal may list that a run has ended. */
const LAG_MS = 10 * 60_000;

/** Notifications of ended runs that are remembered, so that none is made anew while it is listed late. */
const MOST_ENDED = 5_000;

const ID_DIGITS = 32;

const ENDED: Readonly<Record<string, string>> = {
  FAILED: "failed",
  TIMED_OUT: "timedOut",
  TERMINATED: "terminated",
};

/** Returns the state of a notifier that begins: what happened shortly before counts. */
export const firstState = (now: number): NotifierState => ({
  endedFrom: now - LAG_MS,
  ended: [],
  asked: [],
  overdueTo: 0,
  queue: [],
  delivered: 0,
  givenUp: 0,
});

/** The same for the same occurrence, whichever worker finds it. */
const idOf = (...of: ReadonlyArray<string>): string =>
  `msg_${createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, ID_DIGITS)}`;

/** An id that a terminal would show as something else gets no command. */
const isPlain = (workflowId: string): boolean => /^[\w.@:/+-]+$/.test(workflowId);

const timeText = (time: number): string => `"${new Date(time).toISOString()}"`;

/** Looks for what has happened since the last look: in the ledger who waits for a person, in Temporal what has ended. */
export class Look {
  readonly #client: Client;
  readonly #options: LookOptions;
  readonly #state: NotifierState;
  #room: number;
  readonly #found: Array<QueuedNotification> = [];

  constructor(client: Client, options: LookOptions, state: NotifierState) {
    this.#client = client;
    this.#options = options;
    this.#state = state;
    this.#room = MOST_QUEUED - state.queue.length;
  }

  /** Returns the state with what has happened in its queue, in the order of time. */
  async find(): Promise<NotifierState> {
    const now = Date.now();
    const asked = await this.#lookAtQuestions();
    const ended = await this.#lookAtEnded(now);
    const overdueTo = await this.#lookAtOverdue(now);
    const queue = [...this.#state.queue, ...this.#found].toSorted((one, other) =>
      one.notification.timestamp.localeCompare(other.notification.timestamp),
    );
    return { ...this.#state, ...ended, asked, overdueTo, queue };
  }

  /** @returns false where there is no room: it is found again. */
  #add(
    type: QueuedNotification["notification"]["type"],
    at: number,
    which: string,
    { runId, workflowId, ...data }: Partial<NotificationData> & { readonly workflowId: string },
  ): boolean {
    if (this.#room <= 0) return false;
    this.#room -= 1;
    const { namespace, taskQueue, webUi } = this.#options;
    const path = ["namespaces", namespace, "workflows", workflowId, ...(runId ? [runId] : [])];
    this.#found.push({
      id: idOf(type, namespace, workflowId, which),
      notification: {
        type,
        timestamp: new Date(at).toISOString(),
        data: {
          namespace,
          taskQueue,
          workflowId,
          ...(runId && { runId }),
          ...data,
          ...(webUi !== undefined && {
            webUi: `${webUi.replace(/\/+$/, "")}/${path.map(encodeURIComponent).join("/")}`,
          }),
          ...(isPlain(workflowId) && { command: `starter show ${workflowId}` }),
        },
      },
    });
    return true;
  }

  /** Each question once, also those of runs that have ended. */
  async #lookAtQuestions(): Promise<ReadonlyArray<string>> {
    const known = new Set(this.#state.asked);
    const rows = await this.#options.ledger.rows({ needsPerson: true });
    return rows.flatMap((row) => {
      if (row.question === null) return [];
      const { id, since } = row.question;
      return known.has(id) || this.#add("run.asks", since, id, dataOf(row)) ? [id] : [];
    });
  }

  async #list(conditions: string): Promise<ReadonlyArray<WorkflowExecutionInfo>> {
    const { ledger, taskQueue } = this.#options;
    const runs: Array<WorkflowExecutionInfo> = [];
    for await (const run of this.#client.workflow.list({ query: conditions })) {
      // Batches have a queue that is named after it.
      if (run.taskQueue === taskQueue || run.taskQueue.startsWith(`${taskQueue}/`)) runs.push(run);
    }
    // Whatever else runs in the namespace is nobody's payment.
    const workflowIds = [...new Set(runs.map(({ workflowId }) => workflowId))];
    if (workflowIds.length === 0) return [];
    const known = await ledger.runs({ workflowIds });
    const payments = new Set(known.map(({ workflowId }) => workflowId));
    return runs.filter(({ workflowId }) => payments.has(workflowId));
  }

  async #lookAtEnded(now: number): Promise<Pick<NotifierState, "ended" | "endedFrom">> {
    const { ended, endedFrom } = this.#state;
    const known = new Set(ended.map(([id]) => id));
    const seen = [...ended];
    const runs = await this.#list(
      `CloseTime >= ${timeText(endedFrom)} AND ExecutionStatus IN ("Failed", "TimedOut", "Terminated")`,
    );
    let upTo = now;
    for (const run of runs.toSorted((one, other) => closedAt(one) - closedAt(other))) {
      const at = closedAt(run);
      const { runId, status, type, workflowId } = run;
      if (known.has(runId)) continue;
      const state = ENDED[status.name] ?? status.name;
      if (!this.#add("run.failed", at, runId, { workflowId, runId, workflowType: type, state })) {
        upTo = Math.min(upTo, at);
        break;
      }
      seen.push([runId, at]);
    }
    for (const batch of await this.#options.ledger.batches()) {
      const key = `batch ${batch.id}`;
      if (batch.state !== "finished" || known.has(key)) continue;
      // What had finished before the notifier began is nobody's news.
      const isOld = this.#state.overdueTo === 0;
      if (isOld || (await this.#addBatch(batch, now))) seen.push([key, Number.MAX_SAFE_INTEGER]);
    }
    const from = Math.max(endedFrom, upTo - LAG_MS);
    const kept = seen
      .filter(([, at]) => at >= from)
      .toSorted((one, other) => one[1] - other[1])
      .slice(-MOST_ENDED);
    const [first] = kept;
    // Of what is remembered no more it would be found again.
    const isFull = kept.length === MOST_ENDED && first !== undefined;
    return { ended: kept, endedFrom: isFull ? Math.max(from, first[1]) : from };
  }

  async #addBatch({ id, type }: Batch, now: number): Promise<boolean> {
    const rows: Record<string, number> = {};
    for (const { rows: count, state } of await this.#options.ledger.batchCounts(id)) {
      rows[state] = (rows[state] ?? 0) + count;
    }
    return this.#add("batch.ended", now, id, {
      workflowId: id,
      workflowType: type,
      state: "completed",
      batch: id,
      rows,
    });
  }

  async #lookAtOverdue(now: number): Promise<number> {
    const { overdueTo } = this.#state;
    const { overdueAfterMs } = this.#options;
    const until = now - overdueAfterMs;
    const runs = await this.#list(
      `ExecutionStatus = "Running" AND StartTime > ${timeText(overdueTo)} AND StartTime <= ${timeText(until)}`,
    );
    const earliest = runs.toSorted((one, other) => +one.startTime - +other.startTime);
    for (const { runId, startTime, type, workflowId } of earliest) {
      const isAdded = this.#add("run.overdue", +startTime + overdueAfterMs, runId, {
        workflowId,
        runId,
        workflowType: type,
        state: "running",
      });
      // The next look begins with it.
      if (!isAdded) return +startTime - 1;
    }
    return Math.max(until, overdueTo);
  }
}

const closedAt = ({ closeTime, startTime }: WorkflowExecutionInfo): number =>
  +(closeTime ?? startTime);

const dataOf = (row: WriteRow) => ({
  workflowId: runStep(row).workflowId,
  runId: row.runId,
  state: "attention",
  stage: runStep(row).step,
});
