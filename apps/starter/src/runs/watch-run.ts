import type { Progress } from "@durable-payments/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import type { Output } from "../output/output.ts";
import { duration, time } from "../output/text.ts";
import { type PendingActivity, pendingActivities } from "./pending-activity.ts";
import { progressLines } from "./progress-lines.ts";
import { askProgress } from "./progress-query.ts";
import { noWorkerText, unpolledQueue } from "./workers.ts";

const FIRST_LOOK_AFTER_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const BACKOFF = 1.5;
const LOOK_FOR_WORKERS_EVERY_MS = 15_000;
const REDRAW_EVERY_MS = 1_000;

/** Tells on standard error how a run gets on: a line for each thing that changes. */
export class RunWatch {
  readonly #temporal: Temporal;
  readonly #workflowId: string;
  readonly #output: Output;
  #historyLength = 0;
  #progress: Progress | undefined;
  #trouble: string | undefined;
  #told = new Set<string>();
  #pending: ReadonlyArray<PendingActivity> = [];
  #lookedForWorkers = Date.now();

  constructor(temporal: Temporal, workflowId: string, output: Output) {
    this.#temporal = temporal;
    this.#workflowId = workflowId;
    this.#output = output;
  }

  /** Looks again and again until it is told that the run is over. */
  async follow(over: AbortSignal): Promise<void> {
    const redraw = setInterval(() => this.#draw(), REDRAW_EVERY_MS);
    try {
      for (let pause = FIRST_LOOK_AFTER_MS; !over.aborted;) {
        await sleep(pause, undefined, { signal: over }).catch(() => undefined);
        const hasChanged = await this.#look(over);
        pause = hasChanged ? FIRST_LOOK_AFTER_MS : Math.min(LONGEST_PAUSE_MS, pause * BACKOFF);
      }
    } finally {
      clearInterval(redraw);
      this.#output.live(undefined);
    }
  }

  /** A look must not end the wait: what fails here is tried again. */
  async #look(over: AbortSignal): Promise<boolean> {
    try {
      const description = await this.#temporal.client.workflow
        .getHandle(this.#workflowId)
        .describe();
      const { historyLength, taskQueue } = description;
      const hasChanged = historyLength !== this.#historyLength;
      if (hasChanged) await this.#ask(historyLength, taskQueue);
      else if (!over.aborted) await this.#lookForWorkers(taskQueue);
      this.#pending = pendingActivities(description);
      for (const { activity, message } of this.#pending) {
        if (message !== undefined) this.#tellOnce(`  ${activity}: ${message}`);
      }
      return hasChanged;
    } catch (error) {
      const reason = isNoAnswer(error) ? "" : `: ${String(error)}`;
      if (!over.aborted) this.#troubled(`Temporal does not answer${reason}. Trying again …`);
      return false;
    }
  }

  async #ask(historyLength: number, taskQueue: string): Promise<void> {
    const asked = await askProgress(this.#temporal, { workflowId: this.#workflowId, taskQueue });
    if (asked._tag === "NoAnswer") {
      this.#troubled(asked.reason);
      return;
    }
    this.#troubled(undefined);
    this.#historyLength = historyLength;
    const before = this.#progress;
    this.#progress = asked.progress;
    for (const line of progressLines(this.#workflowId, before, asked.progress)) {
      this.#output.say(line);
    }
    this.#draw();
  }

  async #lookForWorkers(taskQueue: string): Promise<void> {
    if (Date.now() - this.#lookedForWorkers < LOOK_FOR_WORKERS_EVERY_MS) return;
    this.#lookedForWorkers = Date.now();
    const unpolled = await unpolledQueue(this.#temporal, taskQueue);
    const { namespace } = this.#temporal.settings;
    this.#troubled(unpolled && noWorkerText(unpolled, namespace));
  }

  #troubled(trouble: string | undefined): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#output.say(trouble ?? "The run answers again.");
  }

  #tellOnce(line: string): void {
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#output.say(line);
  }

  #draw(): void {
    const step = this.#progress?.steps.findLast(({ until }) => until === undefined);
    this.#output.live(
      step &&
        `… ${step.name} since ${time(step.since)} (${duration(Date.now() - Date.parse(step.since))})${this.#nextLook()}`,
    );
  }

  /** When the next of the activities that are under way is tried again. */
  #nextLook(): string {
    const [next] = this.#pending
      .flatMap(({ nextAttemptAt }) => (nextAttemptAt === undefined ? [] : [nextAttemptAt]))
      .toSorted();
    if (next === undefined) return "";
    const wait = Date.parse(next) - Date.now();
    return wait > 0 ? `, next look in ${duration(wait)}` : "";
  }
}
