import { Argument, Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json, on, reason, text } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const file = Argument.String("FILE").pipe(
  Argument.withDescription("The input, a JSON file; - reads standard input"),
);

const flags = {
  file,
  id: text("id", "ID", "Workflow id; default: made from the input"),
  isNotDuplicate: on("not-a-duplicate", "Start it although an earlier one looks the same"),
  isDryRun: on("dry-run", "Check the input, and start nothing"),
  by,
  reason,
  json,
};

/** `starter onboard`: issues a card for a cardholder. */
export const onboard = Command.make("onboard", flags, ({ file, json, ...given }) =>
  runCommand(json, async (output) => {
    const { planOnboarding } = await import("@durable-payments/operations/input");
    const { submit } = await import("../input/submit.ts");
    return submit(output, file, planOnboarding, given);
  }),
).pipe(
  Command.withShortDescription("Issue a card to a new or known cardholder"),
  Command.withDescription(
    `Issue a card to a new or known cardholder. The same id never starts a second
  run; without --id it is made from the input.

  ${EXIT_CODES_HELP}`,
  ),
);
