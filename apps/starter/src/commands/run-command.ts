import type { Payments } from "@durable-payments/control/payments";
import { Command, type Flag } from "effect/cli";
import * as Effect from "effect/Effect";
import * as Runtime from "effect/Runtime";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { type Output, processOutput } from "../output/output.ts";

/** Ends the process with a code; all output was written. */
export class ExitWith extends Error {
  override readonly [Runtime.errorExitCode]: number;
  override readonly [Runtime.errorReported] = false;

  constructor(code: number) {
    super(`exit code ${code}`);
    this[Runtime.errorExitCode] = code;
  }
}

/** The work of commands and its output. */
export type Work = typeof import("../work.ts");

/**
 * Runs the work of a command, reports its failure, and ends with its exit code, or 0. The work is loaded only when
 * needed, so that `--help` does not wait for it.
 */
export const runCommand = (
  json: boolean,
  act: (output: Output, work: Work) => Promise<number | void>,
): Effect.Effect<void, ExitWith> =>
  Effect.suspend(() => {
    const output = processOutput(json);
    return Effect.promise(async () => {
      try {
        return (await act(output, await import("../work.ts"))) ?? EXIT_CODES.done;
      } catch (error) {
        const { reportError } = await import("../output/error-report.ts");
        return reportError(output, error);
      }
    }).pipe(
      Effect.onInterrupt(() => Effect.sync(() => output.onInterrupt?.())),
      Effect.flatMap((code) =>
        code === EXIT_CODES.done ? Effect.void : Effect.fail(new ExitWith(code)),
      ),
    );
  });

/** Describes a command: in the list of all, and on its own page of help, with examples and what each is for. */
export const described =
  (
    short: string,
    long: string,
    examples: Readonly<Record<string, string>> = {},
    /** Exit codes with a meaning of their own: the help of `durable-payments` has all. */
    exits?: string,
  ) =>
  <const Name extends string, Input, Context, E, R>(
    command: Command.Command<Name, Input, Context, E, R>,
  ) =>
    command.pipe(
      Command.withShortDescription(short),
      Command.withDescription(exits === undefined ? long : `${long}\n\n  ${exits}`),
      Command.withExamples(
        Object.entries(examples).map(([command, description]) => ({ command, description })),
      ),
    );

/** The formats of a list; a command that lists nothing has only `json`. */
interface Formats {
  readonly json: boolean;
  readonly jsonl?: boolean;
  readonly csv?: boolean;
  readonly noPager?: boolean;
}

/**
 * Makes a command that works with the payments of these settings.
 *
 * @param act its work; it is loaded only when needed.
 * @param about as of `described`.
 */
export const command = <
  const Name extends string,
  const Config extends Command.Command.Config & Readonly<Record<"json", Flag.Flag<boolean>>>,
>(
  name: Name,
  config: Config,
  act: (
    output: Output,
    payments: Payments,
    given: Command.Command.Config.Infer<Config>,
    work: Work,
  ) => Promise<number | void>,
  ...about: Parameters<typeof described>
) =>
  Command.make(name, config, (given) => {
    // Every command has the flag `json`, and those that list something have the others.
    const { csv, json, jsonl = false, noPager } = given as Formats;
    return runCommand(json || jsonl, (output, work) =>
      work.withPayments((payments) => {
        if ([csv, json, jsonl].filter(Boolean).length > 1)
          throw badUsage("Give one of --csv, --json and --jsonl.");
        output.isPaged = noPager === false;
        return act(output, payments, given, work);
      }),
    );
  }).pipe(described(...about));
