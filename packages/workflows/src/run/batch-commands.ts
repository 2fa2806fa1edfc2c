import {
  type BatchCommand,
  type BatchProgress,
  cancelBatchUpdate,
  type GivenCommand,
  pauseBatchUpdate,
  resumeBatchUpdate,
  STEP,
} from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import type { RunState } from "./run-state.ts";

const invalid = (problem: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(problem, "InvalidOrder");

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

/** The orders that a bulk run has been given. */
export class BatchCommands {
  readonly #run: RunState;
  readonly #onStop: () => void;
  #paused: GivenCommand | undefined;
  #cancelled: GivenCommand | undefined;
  /** Whether every row has been looked at: then there is nothing to hold back. */
  isPast = false;

  /** @param onStop is called when no more rows are to be started, for now or for good */
  constructor(
    run: RunState,
    { cancelled, paused }: Pick<BatchProgress, "cancelled" | "paused">,
    onStop: () => void,
  ) {
    this.#run = run;
    this.#paused = paused;
    this.#cancelled = cancelled;
    this.#onStop = onStop;
  }

  get paused(): GivenCommand | undefined {
    return this.#paused;
  }

  get cancelled(): GivenCommand | undefined {
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

  #take(what: string, { by, why }: BatchCommand, change: () => void): void {
    change();
    this.#run.audit.add({
      who: by,
      step: STEP.startPayouts,
      what,
      ...(why !== undefined && { detail: { why } }),
    });
    this.#onStop();
  }
}

const dated = (order: BatchCommand): GivenCommand => ({
  ...order,
  since: new Date().toISOString(),
});
