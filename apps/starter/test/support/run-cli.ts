import { checkJsonOutput } from "@durable-payments/tools/json-output";
import { Cause, Effect, Exit, Runtime } from "effect";
import { vi } from "vitest";
import { commandLine } from "../../src/cli.ts";

/** What a command line has written, and the code it ended with. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process; a test runs one at a time, since all write to the same streams. */
export const runCli = async (...args: ReadonlyArray<string>): Promise<Ended> => {
  const written = { stdout: "", stderr: "" };
  const into =
    (stream: keyof typeof written, end = "") =>
    (text: unknown) => {
      written[stream] += `${String(text)}${end}`;
      return true;
    };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(into("stdout")),
    vi.spyOn(process.stderr, "write").mockImplementation(into("stderr")),
    // Effect prints the help by it.
    vi.spyOn(console, "log").mockImplementation(into("stdout", "\n")),
    vi.spyOn(console, "error").mockImplementation(into("stderr", "\n")),
  ];
  try {
    const exit = await Effect.runPromiseExit(commandLine(args));
    checkJsonOutput(args, written.stdout);
    return { code: codeOf(exit), ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

const codeOf = (exit: Exit.Exit<void, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0;
  const error = Cause.squash(exit.cause);
  return error instanceof Error && Runtime.errorExitCode in error
    ? error[Runtime.errorExitCode]
    : 1;
};
