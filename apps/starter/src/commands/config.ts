import { Command } from "effect/cli";
import { EXIT_CODES } from "../exit-codes.ts";
import { json } from "./flags.ts";
import { described, runCommand } from "./run-command.ts";

/** `durable-payments config`: the settings that count here. */
export const config = Command.make("config", { json }, (given) =>
  runCommand(given.json, async (output, work) => {
    const found = work.readConfiguration();
    output.answer(found, work.configurationText);
    return found.problems.length === 0 ? EXIT_CODES.done : EXIT_CODES.badInput;
  }),
).pipe(
  described(
    "Show the settings, and where each comes from",
    `Show the settings that count here, and where each comes from: the environment,
  the environment file (.env), the settings file, a profile of Temporal, or its
  default. Secrets are not shown. It names every invalid setting, connects to
  nothing, and ends with 2 if one is invalid.`,
    {
      "durable-payments --profile staging config": "The settings of another installation",
    },
  ),
);
