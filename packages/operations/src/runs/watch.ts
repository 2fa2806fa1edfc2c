import { readPaymentMemo, type Progress } from "@durable-payments/protocol";
import { type WorkflowExecutionDescription, WorkflowNotFoundError } from "@temporalio/client";
import { setTimeout as sleep } from "node:timers/promises";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { noWorker, type Unanswered, unpolledQueue } from "../connection/workers.ts";
import { type PendingActivity, pendingActivities } from "./pending-activities.ts";
import { withKeptTimes } from "./kept-times.ts";
import { askProgress } from "./progress.ts";
import { notFound } from "./state.ts";

/** What is new of a run that is watched. */
export type RunUpdate =
  | {
      readonly kind: "progress";
      readonly before: Progress | undefined;
      readonly now: Progress;
    }
  /** The activities that it waits for at present. */
  | { readonly kind: "pending"; readonly activities: ReadonlyArray<PendingActivity> }
  /** It cannot be asked at present. */
  | ({ readonly kind: "unanswered" } & Unanswered)
  | { readonly kind: "answersAgain" };

const FIRST_POLL_AFTER_MS = 250;
const LONGEST_INTERVAL_MS = 5_000;
const BACKOFF = 1.5;

/**
 * How often a run is asked that shows nothing new: with the patience of a question, a worker that has stopped is
 * noticed within its sticky time-out of ten seconds. Temporal itself shows a worker for minutes after its end.
 */
const ASK_AGAIN_MS = 5_000;

/** Polls the progress of a run, and reports what changes. */
class RunWatch {
  readonly #temporal: Temporal;
  readonly #workflowId: string;
  readonly #onUpdate: (update: RunUpdate) => void;
  #historyLength = 0;
  #progress: Progress | undefined;
  #trouble: "temporal" | "worker" | undefined;
  #askedAt = 0;

  constructor(temporal: Temporal, workflowId: string, onUpdate: (update: RunUpdate) => void) {
    this.#temporal = temporal;
    this.#workflowId = workflowId;
    this.#onUpdate = onUpdate;
  }

  async follow(over: AbortSignal): Promise<void> {
    for (let interval = FIRST_POLL_AFTER_MS; !over.aborted;) {
      await sleep(interval, undefined, { signal: over }).catch(() => undefined);
      const hasChanged = await this.#poll(over);
      interval = hasChanged
        ? FIRST_POLL_AFTER_MS
        : Math.min(LONGEST_INTERVAL_MS, interval * BACKOFF);
    }
  }

  /** A poll must not end the wait: what fails here is tried again, unless there is nothing to wait for. */
  async #poll(over: AbortSignal): Promise<boolean> {
    try {
      const description = await this.#temporal.client.workflow
        .getHandle(this.#workflowId)
        .describe();
      const { historyLength } = description;
      const hasChanged = historyLength !== this.#historyLength;
      const isDue = Date.now() - this.#askedAt >= ASK_AGAIN_MS;
      // What has changed is asked at the end of the wait, too: it is the step at which the run has ended.
      if (hasChanged || (isDue && !over.aborted)) await this.#ask(description);
      this.#onUpdate({ kind: "pending", activities: pendingActivities(description) });
      return hasChanged;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) {
        throw notFound(this.#temporal.settings, { workflowId: this.#workflowId });
      }
      const reason = isNoAnswer(error) ? "" : `: ${String(error)}`;
      if (!over.aborted) {
        this.#noteTrouble("temporal", {
          message: `Temporal does not answer${reason}. The run keeps what it has done. Trying again …`,
        });
      }
      return false;
    }
  }

  async #ask(description: WorkflowExecutionDescription): Promise<void> {
    const { historyLength, memo, taskQueue } = description;
    this.#askedAt = Date.now();
    const asked = await askProgress(this.#temporal, { workflowId: this.#workflowId, taskQueue });
    if (asked._tag === "NoAnswer") {
      this.#noteTrouble("worker", asked);
      return;
    }
    if (historyLength === this.#historyLength) {
      await this.#countWorkers(taskQueue, readPaymentMemo(memo)?.account);
      return;
    }
    this.#noteNoTrouble();
    const steps = await withKeptTimes(this.#temporal, description, asked.progress.steps);
    this.#historyLength = historyLength;
    const before = this.#progress;
    this.#progress = { ...asked.progress, steps };
    this.#onUpdate({ kind: "progress", before, now: this.#progress });
  }

  async #countWorkers(taskQueue: string, account: string | undefined): Promise<void> {
    const unpolled = await unpolledQueue(this.#temporal, taskQueue, account);
    const { namespace } = this.#temporal.settings;
    if (unpolled === undefined) this.#noteNoTrouble();
    else this.#noteTrouble("worker", noWorker(unpolled, namespace));
  }

  /** Called once for each trouble, and once more when it is over. */
  #noteTrouble(kind: "temporal" | "worker", { message, next }: Unanswered): void {
    if (this.#trouble === kind) return;
    this.#trouble = kind;
    this.#onUpdate({ kind: "unanswered", message, ...(next && { next }) });
  }

  #noteNoTrouble(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#onUpdate({ kind: "answersAgain" });
  }
}

/**
 * Watch a run, and report what changes: its steps, what it shows and asks, the activities that it
 * waits for, and that it cannot be asked.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param options `onUpdate` is called with each change; `over` ends the watch.
 * @throws NotFound where there is no such run, or it was deleted.
 */
export const watchRun = (
  temporal: Temporal,
  workflowId: string,
  {
    onUpdate,
    over,
  }: { readonly onUpdate: (update: RunUpdate) => void; readonly over: AbortSignal },
): Promise<void> => new RunWatch(temporal, workflowId, onUpdate).follow(over);
