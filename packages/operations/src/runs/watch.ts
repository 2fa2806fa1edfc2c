import type { Progress } from "@durable-payments/protocol";
import { WorkflowNotFoundError } from "@temporalio/client";
import { setTimeout as sleep } from "node:timers/promises";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { noWorker, type Unanswered, unpolledQueue } from "../connection/workers.ts";
import { type PendingActivity, pendingActivities } from "./pending-activities.ts";
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
const COUNT_WORKERS_EVERY_MS = 15_000;

/** Polls the progress of a run, and reports what changes. */
class RunWatch {
  readonly #temporal: Temporal;
  readonly #workflowId: string;
  readonly #onUpdate: (update: RunUpdate) => void;
  #historyLength = 0;
  #progress: Progress | undefined;
  #trouble: string | undefined;
  #countedWorkers = Date.now();

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
      const { historyLength, taskQueue } = description;
      const hasChanged = historyLength !== this.#historyLength;
      if (hasChanged) await this.#ask(historyLength, taskQueue);
      else if (!over.aborted) await this.#countWorkers(taskQueue);
      this.#onUpdate({ kind: "pending", activities: pendingActivities(description) });
      return hasChanged;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) {
        throw notFound(this.#temporal.settings, { workflowId: this.#workflowId });
      }
      const reason = isNoAnswer(error) ? "" : `: ${String(error)}`;
      if (!over.aborted) {
        this.#noteTrouble({
          message: `Temporal does not answer${reason}. The run keeps what it has done. Trying again …`,
        });
      }
      return false;
    }
  }

  async #ask(historyLength: number, taskQueue: string): Promise<void> {
    const asked = await askProgress(this.#temporal, { workflowId: this.#workflowId, taskQueue });
    if (asked._tag === "NoAnswer") {
      this.#noteTrouble(asked);
      return;
    }
    this.#noteTrouble(undefined);
    this.#historyLength = historyLength;
    const before = this.#progress;
    this.#progress = asked.progress;
    this.#onUpdate({ kind: "progress", before, now: asked.progress });
  }

  async #countWorkers(taskQueue: string): Promise<void> {
    if (Date.now() - this.#countedWorkers < COUNT_WORKERS_EVERY_MS) return;
    this.#countedWorkers = Date.now();
    const unpolled = await unpolledQueue(this.#temporal, taskQueue);
    const { namespace } = this.#temporal.settings;
    this.#noteTrouble(unpolled === undefined ? undefined : noWorker(unpolled, namespace));
  }

  #noteTrouble(trouble: Unanswered | undefined): void {
    if (trouble?.message === this.#trouble) return;
    this.#trouble = trouble?.message;
    if (trouble === undefined) this.#onUpdate({ kind: "answersAgain" });
    else {
      const { message, next } = trouble;
      this.#onUpdate({ kind: "unanswered", message, ...(next && { next }) });
    }
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
