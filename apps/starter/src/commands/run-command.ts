import * as Effect from "effect/Effect";
import * as Runtime from "effect/Runtime";
import { EXIT_CODES } from "../exit-codes.ts";
import { type Output, processOutput } from "../output/output.ts";

/** Ends the process with a code; what there was to say has been said. */
export class ExitWith extends Error {
  override readonly [Runtime.errorExitCode]: number;
  override readonly [Runtime.errorReported] = false;

  constructor(code: number) {
    super(`exit code ${code}`);
    this[Runtime.errorExitCode] = code;
  }
}

/**
 * Runs the work of a command, reports what it fails with, and ends with the exit code that it
 * returns. The work is loaded when it is needed, so that `--help` does not wait for it.
 */
export const runCommand = (
  json: boolean,
  work: (output: Output) => Promise<number>,
): Effect.Effect<void, ExitWith> =>
  Effect.suspend(() => {
    const output = processOutput(json);
    return Effect.promise(async () => {
      try {
        return await work(output);
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
