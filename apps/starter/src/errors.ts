import type { Fault } from "@durable-payments/api-core";

/** What the process tells whoever started it. */
export const EXIT_CODES = {
  done: 0,
  runFailed: 1,
  badInput: 2,
  cannotConnect: 3,
  /** A fault of the starter itself. */
  unexpected: 70,
} as const;

/** A command cannot do what it was asked to; the message says why and what to do, for a person. */
export class StarterError extends Error {
  /** What programs look at. */
  readonly type: string;
  readonly exitCode: number;
  /** Every fault of an input, where there are several. */
  readonly faults: ReadonlyArray<Fault> | undefined;

  constructor(
    type: string,
    message: string,
    { exitCode, faults }: { readonly exitCode: number; readonly faults?: ReadonlyArray<Fault> },
  ) {
    super(message);
    this.type = type;
    this.exitCode = exitCode;
    this.faults = faults;
  }
}

/** The command or its input is wrong; nothing was started. */
export const badInput = (message: string, faults?: ReadonlyArray<Fault>): StarterError =>
  new StarterError("BadInput", message, {
    exitCode: EXIT_CODES.badInput,
    ...(faults && { faults }),
  });

/** A person has ended the run: nothing goes on with it but another person's explicit order. */
export const ENDED_BY_PERSON = "EndedByPerson";

/** The run was ended by a person, and stays so. */
export const endedByPerson = (message: string): StarterError =>
  new StarterError(ENDED_BY_PERSON, message, { exitCode: EXIT_CODES.badInput });

/** Temporal, or a worker, cannot be reached or does not take the request. */
export const cannotConnect = (type: string, message: string): StarterError =>
  new StarterError(type, message, { exitCode: EXIT_CODES.cannotConnect });
