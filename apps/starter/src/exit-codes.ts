import { lookUp } from "@durable-payments/client/values";
import * as Data from "effect/Data";

/** Exit codes of the process. */
export const EXIT_CODES = {
  done: 0,
  /** For a run or a file, only with --exit-status or --wait; also for duplicates that exist. */
  runFailed: 1,
  badInput: 2,
  cannotConnect: 3,
  /** Only with --exit-status or --wait. */
  stillOpen: 4,
  notFound: 5,
  refused: 6,
  unexpected: 70,
  interrupted: 130,
} as const;

/** Meaning of each exit code. */
const EXIT_CODE_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  done: "success",
  runFailed: "a run or check failed, a row is not paid, or a duplicate exists",
  badInput: "usage: the command line, a setting or the input is invalid",
  cannotConnect: "Temporal, the ledger, a worker or the service is unreachable",
  stillOpen: "the run or a row is open: it continues, or waits for a person",
  notFound: "there is no such run or batch",
  refused: "refused: it is not possible in this state, or was not confirmed",
  unexpected: "internal error",
  interrupted: "interrupted by Ctrl-C",
};

/** The command line itself is invalid. */
export class BadUsage extends Data.TaggedError("BadUsage")<{
  readonly message: string;
  /** Further texts, each on lines of its own. */
  readonly lines: ReadonlyArray<string>;
}> {}

/** The command line is invalid; nothing was done. */
export const badUsage = (message: string, lines: ReadonlyArray<string> = []): BadUsage =>
  new BadUsage({ message, lines });

/** The exit codes of a command that can report the outcome of a run or a file. */
export const exitStatusHelp = (flag: string): string =>
  `Exit codes with ${flag}: 1 it failed, or a row is unpaid; 4 it is open.`;

/** The table of all exit codes. */
export const EXIT_CODES_TABLE = `Exit codes:\n${Object.entries(EXIT_CODES)
  .map(([name, code]) => `    ${String(code).padEnd(5)}${lookUp(EXIT_CODE_MEANINGS, name)}`)
  .join("\n")}`;
