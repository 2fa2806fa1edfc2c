import * as NodeServices from "@effect/platform-node/NodeServices";
import { CliOutput, Command } from "effect/cli";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { cliConfig, starter } from "../../src/commands/starter.ts";

const formatter = CliOutput.defaultFormatter({ colors: false });

/** The help of a command, as it is printed. */
export const helpOf = async (command: ReadonlyArray<string>): Promise<string> => {
  const shown: Array<string> = [];
  const presenter = CliOutput.layerPresenter({
    present: (event) =>
      Effect.sync(() => {
        shown.push(event._tag === "Help" ? formatter.formatHelpDoc(event.helpDoc) : event._tag);
      }),
  });
  await Effect.runPromise(
    Command.runWith(starter, { version: "0" })([...command, "--help"]).pipe(
      Effect.provide(Layer.mergeAll(NodeServices.layer, presenter, cliConfig)),
    ),
  );
  return shown.join("\n");
};

const namesOf = ({
  subcommands,
}: Pick<Command.Command.Any, "subcommands">): ReadonlyArray<ReadonlyArray<string>> =>
  subcommands.flatMap(({ commands }) =>
    commands.flatMap((command) => [
      [command.name],
      ...namesOf(command).map((name) => [command.name, ...name]),
    ]),
  );

/** The name of each command, its group before it. */
export const commands = namesOf(starter);
