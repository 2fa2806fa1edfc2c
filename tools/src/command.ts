import { messageOf, visibleLines } from "@durable-payments/client/values";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { constants } from "node:os";

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

/**
 * Runs a command and ends the process with its exit code: 0 for help, 2 for an unknown or invalid option, 1 with the
 * message of another error.
 *
 * @param name as a person calls it
 * @param takes its options and arguments
 */
export const runCommand = async <const Takes extends Command.Command.Config>(
  name: string,
  description: string,
  takes: Takes,
  run: (given: Command.Command.Config.Infer<Takes>) => Promise<number>,
): Promise<never> => {
  let code = 0;
  const work = async (given: Command.Command.Config.Infer<Takes>) => {
    code = await run(given);
  };
  const command = Command.make(name, takes, (given) => Effect.promise(() => work(given))).pipe(
    Command.withDescription(description),
  );
  const services = Layer.merge(
    NodeServices.layer,
    CliConfig.layer({ builtIns: [GlobalFlag.Help] }),
  );
  try {
    const running = Command.runWith(command, { version: "" })(process.argv.slice(2));
    await Effect.runPromise(Effect.provide(running, services));
    process.exit(code);
  } catch (error) {
    // It has been printed.
    if (CliError.isCliError(error)) {
      process.exit(error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : 2);
    }
    process.stderr.write(`${visibleLines(messageOf(error))}\n`);
    process.exit(error instanceof Interrupted ? error.exitCode : 1);
  }
};
