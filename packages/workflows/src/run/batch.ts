import { ApplicationFailure } from "@temporalio/common";
import { defineQuery, defineUpdate, setHandler } from "@temporalio/workflow";
import type { Run } from "./run.ts";

/** Who holds back or ends a bulk run, and why. */
export interface BatchOrder {
  readonly by: string;
  readonly why?: string;
}

/** An order that was given, and when: ISO 8601. */
export type GivenOrder = BatchOrder & { readonly since: string };

/** How far a bulk run has come with its rows; what became of their runs, visibility tells. */
export interface BatchProgress {
  readonly rows: number;
  /** Rows that were looked at. */
  readonly done: number;
  readonly started: number;
  readonly known: number;
  readonly conflicting: number;
  /** Rows that a person has rejected in another file meanwhile; mostly left out. */
  readonly rejected?: number;
  readonly paused?: GivenOrder;
  readonly cancelled?: GivenOrder;
}

/** Asks a bulk run how far it has come. Works for those that have ended, too. */
export const batchProgressQuery = defineQuery<BatchProgress>("batchProgress");

/** Starts no more rows until it is resumed; runs that were started go on. */
export const pauseBatchUpdate = defineUpdate<void, [BatchOrder]>("pause");

/** Goes on after a pause. */
export const resumeBatchUpdate = defineUpdate<void, [BatchOrder]>("resume");

/** Starts no more rows; runs that were started go on to their own end. */
export const cancelBatchUpdate = defineUpdate<void, [BatchOrder]>("cancel");

const invalid = (problem: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(problem, "InvalidOrder");

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

/** The orders that a bulk run has been given. */
export class BatchOrders {
  readonly #run: Run;
  readonly #onStop: () => void;
  #paused: GivenOrder | undefined;
  #cancelled: GivenOrder | undefined;
  /** Whether every row has been looked at: then there is nothing to hold back. */
  isPast = false;

  /** @param onStop is called when no more rows are to be started, for now or for good */
  constructor(
    run: Run,
    { cancelled, paused }: Pick<BatchProgress, "cancelled" | "paused">,
    onStop: () => void,
  ) {
    this.#run = run;
    this.#paused = paused;
    this.#cancelled = cancelled;
    this.#onStop = onStop;
  }

  get paused(): GivenOrder | undefined {
    return this.#paused;
  }

  get cancelled(): GivenOrder | undefined {
    return this.#cancelled;
  }

  /** Those that hold now, as they are shown and handed on. */
  get given(): Pick<BatchProgress, "cancelled" | "paused"> {
    return {
      ...(this.#paused && { paused: this.#paused }),
      ...(this.#cancelled && { cancelled: this.#cancelled }),
    };
  }

  /** Takes orders from now on. */
  listen(): void {
    setHandler(
      pauseBatchUpdate,
      (order) => this.#take("paused", order, () => (this.#paused = dated(order))),
      {
        validator: (order) => {
          this.#check(order);
          if (this.#paused) throw invalid(`It is paused already, by ${this.#paused.by}.`);
        },
      },
    );
    setHandler(
      resumeBatchUpdate,
      (order) => this.#take("resumed", order, () => (this.#paused = undefined)),
      {
        validator: (order) => {
          this.#check(order);
          if (!this.#paused) throw invalid("It is not paused.");
        },
      },
    );
    setHandler(
      cancelBatchUpdate,
      (order) => this.#take("cancelled", order, () => (this.#cancelled = dated(order))),
      {
        validator: (order) => this.#check(order),
      },
    );
  }

  #check(order: unknown): void {
    const by: unknown =
      typeof order === "object" && order !== null && "by" in order ? order.by : "";
    if (!isText(by)) throw invalid("Give the name of who orders it (by).");
    if (this.#cancelled) throw invalid(`It was cancelled by ${this.#cancelled.by}.`);
    if (this.isPast) throw invalid("Each of its rows has its run already.");
  }

  #take(what: string, { by, why }: BatchOrder, change: () => void): void {
    change();
    this.#run.audit.add({
      who: by,
      step: "startPayouts",
      what,
      ...(why !== undefined && { detail: { why } }),
    });
    this.#onStop();
  }
}

const dated = (order: BatchOrder): GivenOrder => ({ ...order, since: new Date().toISOString() });
