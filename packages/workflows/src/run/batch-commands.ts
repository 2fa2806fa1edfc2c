import {
  type BatchCommand,
  type BatchProgress,
  cancelBatchUpdate,
  type GivenCommand,
  nameProblem,
  namesSomebody,
  pauseBatchUpdate,
  resumeBatchUpdate,
  STEP,
} from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import type { RunState } from "./run-state.ts";

const invalid = (problem: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(problem, "InvalidCommand");

/** The commands that people have given to a batch. */
export class BatchCommands {
  readonly #run: RunState;
  readonly #onStop: () => void;
  #paused: GivenCommand | undefined;
  #cancelled: GivenCommand | undefined;
  /** Whether every row has its run: then there is nothing to pause or cancel. */
  isDone = false;

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

  /** Those in force now, as they are shown and handed on. */
  get given(): Pick<BatchProgress, "cancelled" | "paused"> {
    return {
      ...(this.#paused && { paused: this.#paused }),
      ...(this.#cancelled && { cancelled: this.#cancelled }),
    };
  }

  /** Take commands from now on. */
  listen(): void {
    setHandler(
      pauseBatchUpdate,
      (command) => this.#take("paused", command, () => (this.#paused = dated(command))),
      {
        validator: (command) => {
          this.#check(command);
          if (this.#paused) throw invalid(`It is paused already, by ${this.#paused.by}.`);
        },
      },
    );
    setHandler(
      resumeBatchUpdate,
      (command) => this.#take("resumed", command, () => (this.#paused = undefined)),
      {
        validator: (command) => {
          this.#check(command);
          if (!this.#paused) throw invalid("It is not paused.");
        },
      },
    );
    setHandler(
      cancelBatchUpdate,
      (command) => this.#take("cancelled", command, () => (this.#cancelled = dated(command))),
      {
        validator: (command) => this.#check(command),
      },
    );
  }

  #check(command: unknown): void {
    const by: unknown =
      typeof command === "object" && command !== null && "by" in command ? command.by : "";
    if (!namesSomebody(by)) throw invalid("Give the name of who commands it (by).");
    const problem = nameProblem(by);
    if (problem !== undefined) throw invalid(`The name of who commands it (by) ${problem}.`);
    if (this.#cancelled) throw invalid(`It was cancelled by ${this.#cancelled.by}.`);
    if (this.isDone) throw invalid("Each of its rows has its run already.");
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

const dated = (command: BatchCommand): GivenCommand => ({
  ...command,
  since: new Date().toISOString(),
});
