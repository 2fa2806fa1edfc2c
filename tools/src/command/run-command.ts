import { messageOf, visibleLines } from "@durable-payments/api-core/values";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { Interrupted } from "./interruption.ts";

/** A command of this package: its help and its options, all of them with a value or without. */
export interface CommandLine<Options extends ParseArgsOptionsConfig> {
  readonly help: string;
  readonly options: Options;
}

/** An option has an invalid value; the message names the option and what it takes. */
export class BadOption extends Error {
  override readonly name = "BadOption";
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

/**
 * Run a command and end the process with its exit code: 0 for help, 2 for options that it does not
 * know or take, 1 with the message of another error.
 */
export const runCommand = async <const Options extends ParseArgsOptionsConfig>(
  { help, options }: CommandLine<Options>,
  run: (values: Values<Options>) => Promise<number>,
): Promise<never> => {
  let values: Values<Options>;
  try {
    const asked = process.argv.slice(2);
    if (asked.includes("--help") || asked.includes("-h")) {
      process.stdout.write(help);
      process.exit(0);
    }
    ({ values } = parseArgs({ options, args: asked }));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\nSee --help.\n`);
    process.exit(2);
  }
  try {
    process.exit(await run(values));
  } catch (error) {
    process.stderr.write(`${visibleLines(messageOf(error))}\n`);
    process.exit(exitCodeOf(error));
  }
};

const exitCodeOf = (error: unknown): number => {
  if (error instanceof Interrupted) return error.exitCode;
  return error instanceof BadOption ? 2 : 1;
};
