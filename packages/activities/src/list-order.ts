import type { TimeSpan } from "@durable-payments/api-core";

/** Times that are written less exactly than this say nothing about the order of a list. */
const INSTANT_MS = 60_000;

/**
 * Whether the rows of a list read so far are newest first. Give it the times of the rows in order. A
 * row whose time cannot be read says nothing.
 *
 * It says nothing of the rows that follow: a list that is sorted by another date, or grouped by
 * status, can begin so, too. Only under the assumption that lists are newest first, or where nothing
 * is concluded from what is not read, may a reading end by it.
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

  /** Whether no row is newer than one before it, or of a time too coarse to compare. */
  get isInOrder(): boolean {
    return this.#isInOrder;
  }

  /** Whether it is in order, and not by chance of a single time. */
  get isVerified(): boolean {
    return this.#isInOrder && this.#newest !== undefined && this.#newest > this.#oldest;
  }

  /** Whether all that follows in a list of this order was created before `from`, in milliseconds since 1970. */
  isPast(from: number): boolean {
    return this.isVerified && this.#oldest < from;
  }
}
