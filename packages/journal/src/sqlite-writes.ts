import type { DatabaseSync } from "node:sqlite";
import { JournalUnavailable, messageOf } from "./errors.ts";
import { inTransaction, isBusy } from "./sqlite-file.ts";

/** How long writes wait for those of other processes. */
const BUSY_FOR_MS = 5_000;

interface Write {
  readonly run: () => void;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/** Writes what is asked for in one turn of the event loop in one transaction: one wait for the disk. */
export class SqliteWrites {
  readonly #database: DatabaseSync;
  readonly #file: string;
  #waiting: Array<Write> = [];
  #isUnderWay = false;

  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
  }

  /**
   * Does a write durably.
   *
   * @throws JournalUnavailable; then nothing was written.
   */
  write<A>(work: () => A): Promise<A> {
    return new Promise<A>((resolve, reject) => {
      let result: { readonly value: A } | undefined;
      this.#waiting.push({
        run: () => {
          result = { value: work() };
        },
        done: () => {
          if (result !== undefined) resolve(result.value);
        },
        failed: reject,
      });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isUnderWay || this.#waiting.length === 0) return;
    this.#isUnderWay = true;
    setImmediate(() => {
      const writes = this.#waiting;
      this.#waiting = [];
      this.#commit(writes, performance.now() + BUSY_FOR_MS);
    });
  }

  #commit(writes: ReadonlyArray<Write>, until: number): void {
    try {
      inTransaction(this.#database, () => {
        for (const { run } of writes) run();
      });
    } catch (error) {
      if (isBusy(error) && performance.now() < until) {
        setTimeout(() => this.#commit(writes, until), Math.random() * 50);
        return;
      }
      const unavailable = new JournalUnavailable(
        `the journal's file ${this.#file} cannot be written (${messageOf(error)})`,
        { cause: error },
      );
      for (const { failed } of writes) failed(unavailable);
      this.#next();
      return;
    }
    for (const { done } of writes) done();
    this.#next();
  }

  #next(): void {
    this.#isUnderWay = false;
    this.#schedule();
  }
}
