import type { OperationError } from "@durable-payments/operations/errors";
import type { BrokenState, StateName } from "@durable-payments/operations/runs";
import { isUnfinished } from "@durable-payments/protocol";

/** What the process reports to whoever started it. */
export const EXIT_CODES = {
  done: 0,
  runFailed: 1,
  badInput: 2,
  cannotConnect: 3,
  /** A fault of the starter itself. */
  unexpected: 70,
} as const;

/** The command line itself is wrong: its flags, or what it names. */
export class BadUsage extends Error {
  override readonly name = "BadUsage";
  /** Further lines, as they are shown. */
  readonly lines: ReadonlyArray<string>;

  constructor(message: string, lines: ReadonlyArray<string>) {
    super(message);
    this.lines = lines;
  }
}

/** The command line is wrong; nothing was done. */
export const badUsage = (message: string, lines: ReadonlyArray<string> = []): BadUsage =>
  new BadUsage(message, lines);

const CONNECTION_TYPES = {
  cannotConnect: "CannotConnect",
  namespaceNotFound: "NamespaceNotFound",
  temporalError: "TemporalError",
  noWorker: "NoWorker",
} as const;

/** The type and the exit code by which programs know an error of the operations. */
export const codesOf = (
  error: OperationError,
): { readonly type: string; readonly exitCode: number } => {
  switch (error._tag) {
    case "InvalidInput":
    case "NotFound":
    case "Refused":
      return { type: "BadInput", exitCode: EXIT_CODES.badInput };
    case "EndedByPerson":
      return { type: error._tag, exitCode: EXIT_CODES.badInput };
    case "ConnectionFailed":
      return { type: CONNECTION_TYPES[error.reason], exitCode: EXIT_CODES.cannotConnect };
  }
};

/** How a run ends that has not done what it was to do. */
const BROKEN: Readonly<Partial<Record<StateName, true>>> = {
  failed: true,
  timedOut: true,
  cancelled: true,
  terminated: true,
} satisfies Record<BrokenState, true>;

/** The exit code of a command that reports a run: one whose payout was not complete in time has not done it. */
export const exitCodeOfRun = (run: {
  readonly state: StateName;
  readonly result?: unknown;
}): number =>
  BROKEN[run.state] === true || isUnfinished(run) ? EXIT_CODES.runFailed : EXIT_CODES.done;

/** What every command's exit code means. */
export const EXIT_CODES_HELP = `Exit codes: 0 done, 1 the run failed, or its payout was not complete in time,
  2 bad input, 3 cannot connect, 70 a fault of the starter itself,
  130 interrupted.`;
