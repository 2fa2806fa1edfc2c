import { rootCause } from "./failures.ts";

/** How something that a run has done is undone. */
export interface Compensation {
  /** What is undone, as a person reads it: `cancel the card`. */
  readonly what: string;
  /** Undoes it; returns without doing anything where there is nothing to undo. */
  readonly how: () => Promise<void>;
}

/** What a run undoes when it fails or is cancelled, the latest first. */
export class Compensations {
  #registered: Array<Compensation> = [];

  /** What would be undone now, the latest first. */
  get registered(): ReadonlyArray<string> {
    return this.#registered.map(({ what }) => what);
  }

  /** Registers how a step is undone: before the step, so that a fault in between is covered. */
  register(compensation: Compensation): void {
    this.#registered.unshift(compensation);
  }

  /**
   * Undoes everything, whatever fails on the way.
   *
   * @param undo runs one compensation.
   * @returns what could not be undone, and why.
   */
  async undoAll(undo: (compensation: Compensation) => Promise<void>): Promise<Array<string>> {
    const leftOver: Array<string> = [];
    for (const compensation of this.#registered) {
      try {
        await undo(compensation);
      } catch (error) {
        leftOver.push(`${compensation.what} (${rootCause(error).message})`);
      }
    }
    return leftOver;
  }
}
