import type { TimeSpan } from "@durable-payments/api-core";

/** Times that are written less exactly than this say nothing about the order of a list. */
const INSTANT_MS = 60_000;

/**
 * Whether the rows of a list read so far show that it is newest first, so that all that follows is
 * older. Give it the times of the rows in order. A row whose time cannot be read says nothing.
 */
export class NewestFirst {
  #newest: number | undefined;
  #oldest = Number.POSITIVE_INFINITY;
  #isInOrder = true;

  /** Takes in the time of the next row. */
  note(span: TimeSpan | undefined): void {
    if (span === undefined) return;
    if (span.latest - span.earliest >= INSTANT_MS || span.latest > this.#oldest) {
      this.#isInOrder = false;
    }
    this.#newest ??= span.latest;
    this.#oldest = span.latest;
  }

  /** Whether it is in order, and not by chance of a single time. */
  get isVerified(): boolean {
    return this.#isInOrder && this.#newest !== undefined && this.#newest > this.#oldest;
  }

  /** Whether all that follows was created before `from`, in milliseconds since 1970. */
  isPast(from: number): boolean {
    return this.isVerified && this.#oldest < from;
  }
}
