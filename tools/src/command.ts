import { messageOf, visibleLines } from "@durable-payments/client/values";
import { constants } from "node:os";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/** This process received a signal to end. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  /** The exit code by which a shell reports a process that a signal has ended. */
  readonly exitCode: number;

  constructor(signal: (typeof ENDING_SIGNALS)[number]) {
    super(`interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Returns an abort signal for SIGINT, SIGTERM and SIGHUP, with {@link Interrupted}; the caller ends the process. */
export const interruption = (): AbortSignal => {
  const controller = new AbortController();
  for (const signal of ENDING_SIGNALS) {
    process.on(signal, () => controller.abort(new Interrupted(signal)));
  }
  return controller.signal;
};

/** Writes progress lines. */
export type Reporter = ReturnType<typeof reporter>;

/** Reports on `stream`; by default on standard error, so that standard output stays for results. */
export const reporter = (stream: NodeJS.WritableStream = process.stderr) => {
  const line = (text: string): void => {
    stream.write(`${visibleLines(text)}\n`);
  };
  return {
    line,
    /** Says what is being done, and awaits it. */
    during: <A>(text: string, work: Promise<A>): Promise<A> => {
      line(`${text} …`);
      return work;
    },
  };
};

/** An option has an invalid value; the message names the option and what it takes. */
export class BadOption extends Error {
  override readonly name = "BadOption";
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

/**
 * Runs a command and ends the process with its exit code: 0 for help, 2 for an unknown or invalid option, 1 with the
 * message of another error.
 */
export const runCommand = async <const Options extends ParseArgsOptionsConfig>(
  command: {
    readonly help: string;
    readonly options: Options;
    /** Whether it takes arguments as well as options. */
    readonly allowPositionals?: boolean;
  },
  run: (values: Values<Options>, positionals: ReadonlyArray<string>) => Promise<number>,
): Promise<never> => {
  const { allowPositionals = false, help, options } = command;
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(help);
    process.exit(0);
  }
  const parsed = () => {
    try {
      return parseArgs({ options, args, allowPositionals });
    } catch (error) {
      throw new BadOption(`${messageOf(error)}\nSee --help.`);
    }
  };
  try {
    const { positionals, values } = parsed();
    process.exit(await run(values, positionals));
  } catch (error) {
    process.stderr.write(`${visibleLines(messageOf(error))}\n`);
    if (error instanceof Interrupted) process.exit(error.exitCode);
    process.exit(error instanceof BadOption ? 2 : 1);
  }
};
