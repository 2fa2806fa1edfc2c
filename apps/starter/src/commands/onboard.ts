import { Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../exit-codes.ts";
import { file, id, json, SAME_ID_HELP, startedBy, wait } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter onboard`: issues a funded card to an existing or a new cardholder. */
export const onboard = Command.make("onboard", { file, id, by: startedBy, wait, json }, (flags) =>
  runCommand(flags.json, async (output) => {
    const { planOnboarding } = await import("@durable-payments/operations/input");
    const { submitRun } = await import("./submit-run.ts");
    return await submitRun(output, flags, planOnboarding);
  }),
).pipe(
  Command.withShortDescription("Onboard a cardholder: identity check, funded card"),
  Command.withDescription(
    `Onboard a cardholder: create or take one, await the identity check, make
  sure that the USD balance can pay the card's limit, issue the card with it.

  The file:
    {"cardholder": {…body of createCardholder…} | "card_holder_id": "…",
     "card": {"product_code": "…", "card_limit": "100.00", "card_name": "…"},
     "account": "NAME of the account that pays, where the workers have several",
     "options": {"onFailure": "keep" | "compensate",
                 "onRefusal": "fail" | "ask",
                 "verifyWithin": "7 days", "fundWithin": "30 days",
                 "pollInterval": {"min": "1 second", "max": "15 minutes"}}}

  ${SAME_ID_HELP("onboard")}

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    {
      command: "starter onboard --file onboard.json --wait",
      description: "Onboard, and await the end",
    },
    {
      command: "starter onboard --file onboard.json --id customer-4711 --json",
      description: "From a program, under a business key",
    },
  ]),
);
