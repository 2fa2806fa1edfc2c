import { CliOutput } from "effect/cli";
import { expect, it } from "vitest";
import { commands, helpOf } from "./support/help.ts";

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
