import * as Data from "effect/Data";

/** Exit codes of the process. */
export const EXIT_CODES = {
  done: 0,
  /** Only with --exit-status: the run did not succeed, or a row is not paid. */
  runFailed: 1,
  badInput: 2,
  cannotConnect: 3,
  /** Only with --exit-status: the run or a row is open. */
  stillOpen: 4,
  /** An internal error. */
  unexpected: 70,
} as const;

/** The command line itself is invalid. */
export class BadUsage extends Data.TaggedError("BadUsage")<{
  readonly message: string;
  /** Further texts, each on lines of its own. */
  readonly lines: ReadonlyArray<string>;
}> {}

/** The command line is invalid; nothing was done. */
export const badUsage = (message: string, lines: ReadonlyArray<string> = []): BadUsage =>
  new BadUsage({ message, lines });

/** Meaning of every command's exit codes. */
export const EXIT_CODES_HELP = `Exit codes: 0 success, 2 invalid input or refused, 3 cannot connect,
  70 internal error, 130 interrupted.`;

/** The same of a command with --exit-status. */
export const EXIT_STATUS_HELP = `${EXIT_CODES_HELP}
  With --exit-status: 1 the run did not succeed or a row is not
  paid, 4 the run or a row is open.`;
