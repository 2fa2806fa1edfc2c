import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { CliError, CliOutput, Command, type HelpDoc } from "effect/cli";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Runtime from "effect/Runtime";
import { commandName, plainCommand } from "./command-name.ts";
import { ExitWith } from "./commands/run-command.ts";
import { cliConfig, root } from "./commands/root.ts";
import { badUsage, EXIT_CODES } from "./exit-codes.ts";
import { processOutput } from "./output/output.ts";
import manifest from "../package.json" with { type: "json" };

/** The commands in a help text by the name by which the command was called. */
const asCalled = (doc: HelpDoc.HelpDoc): HelpDoc.HelpDoc => {
  const named = (text: string) => text.replaceAll(/(?<=^|`)durable-payments(?= )/g, commandName());
  return {
    ...doc,
    usage: named(doc.usage),
    description: named(doc.description),
    ...(doc.examples && {
      examples: doc.examples.map((example) => ({ ...example, command: named(example.command) })),
    }),
  };
};

/** Puts a fault of a command line and its suggestions, which are lines, into one line. */
const onOneLine = (message: string): string =>
  message
    .replace(/\s+Did you mean this\?\s+(.+)$/s, (_, names: string) => {
      return `; did you mean ${names.trim().split(/\s+/).join(" or ")}?`;
    })
    .replaceAll(/\s+/g, " ");

/** A command line that cannot be read is reported as every other fault: on standard error, or as JSON. */
const presenterOf = (json: boolean): CliOutput.Presenter => ({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.promise(async () => {
          const { reportError } = await import("./output/error-report.ts");
          reportError(
            processOutput(json),
            badUsage(
              `${event.errors.map(({ message }) => onOneLine(message)).join("; ")} (see ${plainCommand(...event.commandPath.slice(1), "--help")})`,
            ),
          );
        })
      : CliOutput.defaultPresenter.present(
          event._tag === "Help" ? { ...event, helpDoc: asCalled(event.helpDoc) } : event,
        ),
});

// The reader of the output may have closed it (`| head`).
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

/**
 * Runs a command line, and fails as the command does.
 *
 * @param args the words after the name of the program.
 */
export const commandLine = (args: ReadonlyArray<string>) =>
  Command.runWith(root, { version: manifest.version })(args).pipe(
    Effect.mapError((error) =>
      CliError.isCliError(error) && error._tag === "ShowHelp" && error.errors.length > 0
        ? new ExitWith(EXIT_CODES.badInput)
        : error,
    ),
    Effect.provide(
      Layer.mergeAll(
        NodeServices.layer,
        CliOutput.layerPresenter(
          presenterOf(args.some((word) => word === "--json" || word === "--jsonl")),
        ),
        cliConfig,
      ),
    ),
  );

/** Runs a command line in this process, which ends as the command does, once its output is written. */
export const runCli = (args: ReadonlyArray<string>): void =>
  NodeRuntime.runMain(commandLine(args), {
    disableErrorReporting: true,
    // An attempt of gRPC to connect outlives its connection, up to its deadline of five seconds.
    teardown: (exit) =>
      Runtime.defaultTeardown(exit, (code) => {
        process.stdout.write("", () => process.exit(code));
      }),
  });
