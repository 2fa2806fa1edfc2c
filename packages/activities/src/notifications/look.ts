import {
  askingStages,
  endedStateOf,
  isAskingStage,
  type NotifierState,
  PAYMENT_STAGE,
  type PayoutBatchResult,
  progressQuery,
  type QueuedNotification,
  queryText,
  queryTexts,
  UNFINISHED,
  WORKFLOW,
} from "@durable-payments/protocol";
import { isRecord } from "@durable-payments/api-core/values";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import * as Result from "effect/Result";
import { readAnswer } from "../answers.ts";
import { type NotifierPlace, notificationOf, type Occurrence } from "./describe-run.ts";

/** What is looked at, and by when a run is overdue. */
export interface LookOptions extends NotifierPlace {
  readonly overdueAfterMs: number;
}

/** Most notifications that wait to be delivered; with so many nothing further is looked for. */
export const MOST_QUEUED = 500;

/** How late Temporal may list that a run has ended. */
const LAG_MS = 10 * 60_000;

/** Notifications of ended runs that are remembered, so that none is made anew while it is listed late. */
const MOST_ENDED = 5_000;

/** Runs that ask at a time of which it is remembered what they asked. */
const MOST_ASKING = 1_000;

/** Runs that asked before and still do, of which it is read in a look whether they ask something else. */
const ASKED_AGAIN = 50;
const ASKED_AT_ONCE = 8;
const ANSWER_WITHIN_MS = 3_000;

/** The question of a run that could not say it. */
const UNKNOWN = "?";

const PAGE_SIZE = 1_000;

/** What a batch reports of its rows. */
const ROW_COUNTS = [
  "rows",
  "started",
  "known",
  "conflicting",
  "rejected",
  "notStarted",
  "completed",
  "unfinished",
  "failed",
  "cancelled",
  "terminated",
  "timedOut",
] as const satisfies ReadonlyArray<keyof PayoutBatchResult>;

const STAGE = PAYMENT_STAGE.name;

/** Whatever else runs in the namespace has no stage: leases, trackers, chunks, pauses. */
const PAYMENT_WORK = `${STAGE} IS NOT NULL`;

/** The state of a notifier that begins: what happened shortly before counts. */
export const firstState = (now: number): NotifierState => ({
  endedFrom: now - LAG_MS,
  ended: [],
  asking: {},
  overdueTo: 0,
  queue: [],
  delivered: 0,
  givenUp: 0,
});

const timeText = (time: number): string => queryText(new Date(time).toISOString());

const timeOf = ({ notification }: QueuedNotification): number => Date.parse(notification.timestamp);

/** Looks at Temporal's visibility for what has happened since the last look. */
export class Look {
  readonly #client: Client;
  readonly #options: LookOptions;
  #state: NotifierState;
  #room: number;
  readonly #found: Array<QueuedNotification> = [];

  constructor(client: Client, options: LookOptions, state: NotifierState) {
    this.#client = client;
    this.#options = options;
    this.#state = state;
    this.#room = MOST_QUEUED - state.queue.length;
  }

  /** Find what has happened: the state, with it in its queue. */
  async find(): Promise<NotifierState> {
    await this.#lookAtAsking();
    await this.#lookAtEnded(Date.now());
    await this.#lookAtOverdue(Date.now());
    const queue = [...this.#state.queue, ...this.#found].toSorted(
      (one, other) => timeOf(one) - timeOf(other),
    );
    return { ...this.#state, queue };
  }

  async #list(conditions: ReadonlyArray<string>): Promise<ReadonlyArray<WorkflowExecutionInfo>> {
    const { taskQueue } = this.#options;
    const query = [PAYMENT_WORK, ...conditions].map((one) => `(${one})`).join(" AND ");
    const runs: Array<WorkflowExecutionInfo> = [];
    for await (const run of this.#client.workflow.list({ query, pageSize: PAGE_SIZE })) {
      // The queues of a worker are named after its base queue.
      if (run.taskQueue === taskQueue || run.taskQueue.startsWith(`${taskQueue}/`)) runs.push(run);
    }
    return runs;
  }

  #add(run: WorkflowExecutionInfo, occurrence: Occurrence): QueuedNotification {
    const queued = notificationOf(this.#options, run, occurrence);
    this.#found.push(queued);
    this.#room -= 1;
    return queued;
  }

  async #lookAtEnded(now: number): Promise<void> {
    const { ended, endedFrom } = this.#state;
    const runs = await this.#list([
      `CloseTime >= ${timeText(endedFrom)}`,
      [
        'ExecutionStatus IN ("Failed", "TimedOut", "Terminated")',
        `ExecutionStatus = "Completed" AND ${STAGE} = ${queryText(UNFINISHED)}`,
        `WorkflowType = ${queryText(WORKFLOW.payoutBatch)} AND ExecutionStatus IN ("Completed", "Canceled")`,
      ].join(" OR "),
    ]);
    const known = new Set(ended.map(([id]) => id));
    const seen = [...ended];
    let upTo = now;
    const closed = runs
      .map((run) => ({ run, at: run.closeTime ?? run.startTime }))
      .toSorted((one, other) => one.at.getTime() - other.at.getTime());
    for (const { at, run } of closed) {
      const { status, type } = run;
      const isUnfinished = status.name === "COMPLETED" && type !== WORKFLOW.payoutBatch;
      const occurrence = {
        type:
          type === WORKFLOW.payoutBatch
            ? ("batch.ended" as const)
            : isUnfinished
              ? ("run.overdue" as const)
              : ("run.failed" as const),
        at,
        state: endedStateOf(status.name) ?? status.name,
        which: status.name,
      };
      const { id } = notificationOf(this.#options, run, occurrence);
      if (known.has(id)) continue;
      if (this.#room <= 0) {
        upTo = Math.min(upTo, at.getTime());
        break;
      }
      const rows = occurrence.type === "batch.ended" ? await this.#rowsOf(run) : undefined;
      this.#add(run, { ...occurrence, rows });
      seen.push([id, at.getTime()]);
    }
    const from = Math.max(endedFrom, upTo - LAG_MS);
    const kept = seen
      .filter(([, at]) => at >= from)
      .toSorted((one, other) => one[1] - other[1])
      .slice(-MOST_ENDED);
    const [first] = kept;
    this.#state = {
      ...this.#state,
      ended: kept,
      // Of what is remembered no more it would be found again.
      endedFrom: kept.length === MOST_ENDED && first !== undefined ? first[1] : from,
    };
  }

  /** How the rows of a batch ended, by its result; undefined where it has none, or cannot be read. */
  async #rowsOf({
    runId,
    status,
    workflowId,
  }: WorkflowExecutionInfo): Promise<Readonly<Record<string, number>> | undefined> {
    if (status.name !== "COMPLETED") return undefined;
    try {
      const result: unknown = await this.#client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        this.#client.workflow.getHandle(workflowId, runId).result(),
      );
      if (!isRecord(result)) return undefined;
      const counts = ROW_COUNTS.flatMap((name) => {
        const count = result[name];
        return typeof count === "number" ? [[name, count] as const] : [];
      });
      return Object.fromEntries(counts);
    } catch {
      // That it has ended is notified of all the same.
      return undefined;
    }
  }

  async #lookAtOverdue(now: number): Promise<void> {
    const { overdueTo } = this.#state;
    const until = now - this.#options.overdueAfterMs;
    const runs = await this.#list([
      'ExecutionStatus = "Running"',
      `StartTime > ${timeText(overdueTo)}`,
      `StartTime <= ${timeText(until)}`,
    ]);
    const earliest = runs.toSorted(
      (one, other) => one.startTime.getTime() - other.startTime.getTime(),
    );
    let upTo = Math.max(until, overdueTo);
    for (const run of earliest) {
      if (this.#room <= 0) {
        // The next look begins with it.
        upTo = run.startTime.getTime() - 1;
        break;
      }
      const at = new Date(run.startTime.getTime() + this.#options.overdueAfterMs);
      this.#add(run, { type: "run.overdue", at, state: "running", which: "RUNNING" });
    }
    this.#state = { ...this.#state, overdueTo: upTo };
  }

  async #lookAtAsking(): Promise<void> {
    const { asking } = this.#state;
    const runs = await this.#list([
      'ExecutionStatus = "Running"',
      `${STAGE} IN ${queryTexts(askingStages)}`,
    ]);
    const fresh = runs.filter(({ runId }) => !(runId in asking));
    const old = runs.filter(({ runId }) => runId in asking);
    // Each at some time: which ones, a look does not remember.
    const from = old.length === 0 ? 0 : Math.floor(Date.now() / 1000) % old.length;
    const again = [...old.slice(from), ...old.slice(0, from)].slice(0, ASKED_AGAIN);
    const still = new Map(old.map(({ runId }) => [runId, asking[runId] ?? UNKNOWN]));
    const wanted = [...fresh, ...again];
    for (let at = 0; at < wanted.length && this.#room > 0; at += ASKED_AT_ONCE) {
      const some = wanted.slice(at, at + ASKED_AT_ONCE);
      const questions = await Promise.all(some.map((run) => this.#ask(run)));
      for (const [index, run] of some.entries()) {
        const question = questions[index];
        const { runId } = run;
        const before = still.get(runId);
        if (question === undefined) {
          // It was answered meanwhile, and visibility does not know that yet.
          still.delete(runId);
        } else if (before === undefined || (before !== UNKNOWN && question.key !== UNKNOWN)) {
          if (before === question.key || still.size >= MOST_ASKING) continue;
          this.#add(run, {
            type: "run.asks",
            at: question.since,
            state: "attention",
            which: question.key,
          });
          still.set(runId, question.key);
        } else if (question.key !== UNKNOWN) {
          still.set(runId, question.key);
        }
      }
    }
    this.#state = { ...this.#state, asking: Object.fromEntries(still) };
  }

  /** What a run asks, and since when; undefined where it asks nothing any more. */
  async #ask({
    runId,
    workflowId,
  }: WorkflowExecutionInfo): Promise<{ readonly key: string; readonly since: Date } | undefined> {
    try {
      const answer = await this.#client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        this.#client.workflow.getHandle(workflowId, runId).query<unknown>(progressQuery.name),
      );
      const { attention, stage, steps } = Result.getOrThrow(readAnswer.asking(answer));
      if (!isAskingStage(stage)) return undefined;
      const since = attention?.since ?? steps.findLast(({ name }) => name === stage)?.since;
      return {
        key: attention?.question ?? `${stage} ${since ?? ""}`,
        since: since === undefined ? new Date() : new Date(since),
      };
    } catch {
      // Whatever keeps it from answering, a person is to look at it.
      return { key: UNKNOWN, since: new Date() };
    }
  }
}
