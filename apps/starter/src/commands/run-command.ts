import type { Payments } from "@durable-payments/control/payments";
import { Command } from "effect/cli";
import * as Effect from "effect/Effect";
import * as Runtime from "effect/Runtime";
import { badUsage, EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
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

/** The work of a command with payments. */
type Act = (output: Output, payments: Payments, work: Work) => Promise<number | void>;

/** Runs the work of a command with the payments of these settings. */
export const runPayments = (json: boolean, act: Act): Effect.Effect<void, ExitWith> =>
  runCommand(json, (output, work) => work.withPayments((payments) => act(output, payments, work)));

/** Runs the work of a command that lists something: in one format, or for a person. */
export const runListing = (
  given: Readonly<Record<"json" | "jsonl" | "noPager", boolean>> & { readonly csv?: boolean },
  act: Act,
): Effect.Effect<void, ExitWith> =>
  runPayments(given.json || given.jsonl, async (output, payments, work) => {
    if ([given.csv, given.json, given.jsonl].filter(Boolean).length > 1)
      throw badUsage("Give one of --csv, --json and --jsonl.");
    output.isPaged = !given.noPager;
    return act(output, payments, work);
  });

/** Describes a command: in the list of all, and on its own page of help, with examples and what each is for. */
export const described =
  (
    short: string,
    long: string,
    examples: Readonly<Record<string, string>> = {},
    exits = EXIT_CODES_HELP,
  ) =>
  <const Name extends string, Input, Context, E, R>(
    command: Command.Command<Name, Input, Context, E, R>,
  ) =>
    command.pipe(
      Command.withShortDescription(short),
      Command.withDescription(`${long}\n\n  ${exits}`),
      Command.withExamples(
        Object.entries(examples).map(([command, description]) => ({ command, description })),
      ),
    );
