// A process of the starter that runs one command line after the other: it is loaded once for all of
// them. Each has the environment, the arguments and the input that it is sent with; the exit code
// follows its output, on both streams.
import module from "node:module";
import { Readable } from "node:stream";
import * as Runtime from "effect/Runtime";
import { type CommandLine, END } from "./starter-pool.ts";

module.enableCompileCache();
const { runStarter } = await import("../../src/cli.ts");

// An interruption that comes late, when the command has ended, ends nothing else.
process.on("SIGINT", () => undefined);

const run = ({ args, env, stdin }: CommandLine): void => {
  process.env = { ...env };
  process.argv.splice(2, process.argv.length, ...args);
  Object.defineProperty(process, "stdin", { value: Readable.from([stdin]), configurable: true });
  runStarter((exit) =>
    Runtime.defaultTeardown(exit, (code) => {
      void resetSdk(args).then(() => {
        for (const stream of [process.stdout, process.stderr]) stream.write(`${END}${code}\n`);
      });
    }),
  );
};

/** A replay installs the SDK's runtime, which a process has once at a time. */
const resetSdk = async (args: CommandLine["args"]): Promise<void> => {
  if (!args.includes("replay")) return;
  const { Runtime: SdkRuntime } = await import("@temporalio/worker");
  await SdkRuntime.instance().shutdown();
};

process.on("disconnect", () => process.exit());
// Only the pool sends messages.
process.on("message", (line) => run(line as CommandLine));
