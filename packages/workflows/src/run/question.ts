import { condition } from "@temporalio/workflow";
import { type Attention, type Resolution, whyNot } from "./attention.ts";

/** The question that a run asks a person: one at a time, and it takes one answer. */
export class Question {
  #asked: Attention | undefined;
  #answer: Resolution | undefined;

  /** What is asked now. */
  get asked(): Attention | undefined {
    return this.#asked;
  }

  /** Why a decision cannot be taken now, or undefined when it can. */
  whyNot(resolution: unknown): string | undefined {
    // A decision that is not taken up yet is not overwritten by a second one.
    return this.#answer !== undefined && this.#asked !== undefined
      ? "This question has been answered."
      : whyNot(this.#asked, resolution);
  }

  /** Takes the decision of a person; the update's validator has checked it. */
  answer(resolution: Resolution): void {
    this.#answer = resolution;
  }

  /** Asks; what is returned waits, however long it takes, until a person has decided. */
  ask(attention: Attention): () => Promise<Resolution> {
    this.#asked = attention;
    this.#answer = undefined;
    return async () => {
      try {
        await condition(() => this.#answer !== undefined);
      } finally {
        // A run that is cancelled asks no more.
        this.#asked = undefined;
      }
      // The condition holds: `answer` has set it.
      return this.#answer as unknown as Resolution;
    };
  }
}
