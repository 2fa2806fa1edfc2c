import * as NodeServices from "@effect/platform-node/NodeServices";
import { CliOutput, Command } from "effect/cli";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { expect, it } from "vitest";
import { cliConfig, starter } from "../src/commands/starter.ts";

const formatter = CliOutput.defaultFormatter({ colors: false });

const helpOf = async (command: ReadonlyArray<string>): Promise<string> => {
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

const commands = namesOf(starter);

it("names every command", async () => {
  const help = await helpOf([]);
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) {
    const group = command.length === 1 ? help : await helpOf(command.slice(0, -1));
    expect(group).toContain(`\n  ${command.at(-1)} `);
  }
});

it.each([[], ...commands].map((command) => ({ command })))(
  "fits 80 columns: starter $command",
  async ({ command }) => {
    const help = await helpOf(command);
    expect(help.split("\n").filter((line) => CliOutput.displayWidth(line) > 80)).toEqual([]);
  },
);

it.each(commands.map((command) => ({ command })))(
  "shows the exit codes: starter $command",
  async ({ command }) => {
    expect(await helpOf(command)).toContain("Exit codes: 0 ");
  },
);

it("shows how ids are made", async () => {
  expect(await helpOf(["payout"])).toContain("payout-<hash of the input>");
  expect(await helpOf(["onboard"])).toContain("onboard-<hash of the input>");
});
