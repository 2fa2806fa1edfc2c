import { constants } from "node:os";

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** This process received a signal to end. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  /** The exit code by which a shell reports a process that a signal has ended. */
  readonly exitCode: number;

  constructor(signal: (typeof endingSignals)[number]) {
    super(`interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Return an abort signal for SIGINT, SIGTERM and SIGHUP, with {@link Interrupted}; from then on the caller ends the process. */
export const interruption = (): AbortSignal => {
  const controller = new AbortController();
  for (const signal of endingSignals) {
    process.on(signal, () => controller.abort(new Interrupted(signal)));
  }
  return controller.signal;
};
