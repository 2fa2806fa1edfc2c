import { messageOf, visibleLines } from "@durable-payments/api-core/values";
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

const REPEAT_EVERY_MS = 15_000;

/** Writes progress lines; on a terminal the line of a long wait counts its seconds in place. */
export interface Reporter {
  readonly line: (text: string) => void;
  /** Shows `text` with the seconds that have passed until `work` ends. */
  readonly during: <A>(text: string, work: Promise<A>) => Promise<A>;
}

/** Reports on `stream`; by default on standard error, so that standard output stays for results. */
export const reporter = (stream: NodeJS.WriteStream = process.stderr): Reporter => ({
  line: (text) => void stream.write(`${visibleLines(text)}\n`),
  during: async (text, work) => {
    const started = Date.now();
    const show = () => {
      const line = `${text} … ${Math.round((Date.now() - started) / 1000)} s`;
      stream.write(stream.isTTY ? `\r${line}` : `${line}\n`);
    };
    if (!stream.isTTY) stream.write(`${text} …\n`);
    const timer = setInterval(show, stream.isTTY ? 1000 : REPEAT_EVERY_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      if (stream.isTTY) stream.write("\r\x1b[K");
    }
  },
});

/** An option has an invalid value; the message names the option and what it takes. */
export class BadOption extends Error {
  override readonly name = "BadOption";
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

/** How a command is called. */
interface CommandDefinition<Options extends ParseArgsOptionsConfig> {
  readonly help: string;
  readonly options: Options;
  /** Whether it takes arguments as well as options. */
  readonly allowPositionals?: boolean;
}

/**
 * Runs a command and ends the process with its exit code: 0 for help, 2 for an unknown or invalid option, 1 with the
 * message of another error.
 */
export const runCommand = async <const Options extends ParseArgsOptionsConfig>(
  { allowPositionals = false, help, options }: CommandDefinition<Options>,
  run: (values: Values<Options>, positionals: ReadonlyArray<string>) => Promise<number>,
): Promise<never> => {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(help);
    process.exit(0);
  }
  let parsed: { readonly values: Values<Options>; readonly positionals: ReadonlyArray<string> };
  try {
    parsed = parseArgs({ options, args, allowPositionals });
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\nSee --help.\n`);
    process.exit(2);
  }
  try {
    process.exit(await run(parsed.values, parsed.positionals));
  } catch (error) {
    process.stderr.write(`${visibleLines(messageOf(error))}\n`);
    if (error instanceof Interrupted) process.exit(error.exitCode);
    process.exit(error instanceof BadOption ? 2 : 1);
  }
};
