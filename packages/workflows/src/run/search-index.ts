import { upsertSearchAttributes } from "@temporalio/workflow";
import { PAYMENT_IDS, PAYMENT_STAGE } from "@durable-payments/activities/search-attributes";

/** Marks in PaymentIds what a run is about to make, until it is known what became of it. */
export const intentMark = (intent: string): string => `intent:${intent}`;

/**
 * What a run can be found by. Changes are written when the workflow yields: one event for all,
 * instead of one for each, and in the same transaction as the commands that follow them.
 */
export class SearchIndex {
  #stage = "";
  #ids = new Set<string>();
  #intents = new Map<string, string>();
  #written = "";
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

  /** Writes what has changed, now. */
  write(): void {
    this.#isDue = false;
    const ids = [...this.#ids, ...this.#intents.values()];
    const idsAsText = ids.join(" ");
    upsertSearchAttributes([
      { key: PAYMENT_STAGE, value: this.#stage },
      ...(idsAsText === this.#written ? [] : [{ key: PAYMENT_IDS, value: ids }]),
    ]);
    this.#written = idsAsText;
  }

  #due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    void Promise.resolve().then(() => {
      if (this.#isDue) this.write();
    });
  }
}
