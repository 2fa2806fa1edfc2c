import {
  PAYMENT_AWAITS,
  PAYMENT_IDS,
  PAYMENT_STAGE,
} from "@durable-payments/activities/search-attributes";
import { upsertSearchAttributes } from "@temporalio/workflow";

/** Marks in PaymentIds what a run is about to make, until it is known what became of it. */
export const intentMark = (intent: string): string => `intent:${intent}`;

/** Values as they were last written: PaymentStage, PaymentIds, PaymentAwaits. */
interface Written {
  readonly stage: string;
  readonly ids: string;
  readonly awaits: string;
}

/**
 * What a run can be found by. Changes are to be written when the workflow has done all that it can do
 * for now: one event for all, and in the same transaction as the commands that it has given with them.
 */
export class SearchIndex {
  #stage = "";
  #ids = new Set<string>();
  #intents = new Map<string, string>();
  #awaited = new Set<string>();
  #written: Written = { stage: "", ids: "", awaits: "" };
  #isDue = false;

  /** The stage that the run has reached. */
  stage(stage: string): void {
    this.#stage = stage;
    this.#due();
  }

  /** Ids and keys that this run owns. */
  add(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.add(id);
    this.#due();
  }

  /** What a step is about to make; other runs that look for the like know that this one may have made it. */
  intends(step: string, intent: string): void {
    this.#intents.set(step, intentMark(intent));
    this.#due();
  }

  /** It is known what became of a step's send. */
  settled(step: string): void {
    if (this.#intents.delete(step)) this.#due();
  }

  /** Whether a step meant to make something and it is not known what became of it. */
  isInDoubt(step: string): boolean {
    return this.#intents.has(step);
  }

  /** What the run is to be told of. Of several, the tracker is shown one after the other. */
  awaits(awaited: string): void {
    this.#awaited.add(awaited);
    this.#due();
  }

  /** The run waits for it no more. */
  awaitsNoMore(awaited: string): void {
    if (this.#awaited.delete(awaited)) this.#due();
  }

  /** Writes what has changed, if anything has. */
  write(): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    const ids = [...this.#ids, ...this.#intents.values()];
    const [awaits = ""] = this.#awaited;
    const now: Written = { stage: this.#stage, ids: ids.join(" "), awaits };
    const changes = [
      ...(now.stage === this.#written.stage ? [] : [{ key: PAYMENT_STAGE, value: this.#stage }]),
      ...(now.ids === this.#written.ids ? [] : [{ key: PAYMENT_IDS, value: ids }]),
      ...(now.awaits === this.#written.awaits
        ? []
        : [{ key: PAYMENT_AWAITS, value: awaits === "" ? null : awaits }]),
    ];
    this.#written = now;
    if (changes.length > 0) upsertSearchAttributes(changes);
  }

  #due(): void {
    this.#isDue = true;
  }
}
