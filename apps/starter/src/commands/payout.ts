import { Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../exit-codes.ts";
import { file, id, json, SAME_ID_HELP, startedBy, wait } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter payout`: pays out to an existing or a new beneficiary. */
export const payout = Command.make("payout", { file, id, by: startedBy, wait, json }, (flags) =>
  runCommand(flags.json, async (output) => {
    const { planPayout } = await import("@durable-payments/operations/input");
    const { submitRun } = await import("./submit-run.ts");
    return await submitRun(output, flags, planPayout);
  }),
).pipe(
  Command.withShortDescription("Pay out to a beneficiary, exactly once"),
  Command.withDescription(
    `Pay out to an existing or a new beneficiary, exactly once.

  The file:
    {"beneficiary": {…body of createBeneficiary…} | "beneficiary_id": "…",
     "payout": {…body of createPayout, without beneficiary_id…},
     "account": "NAME of the account that pays, where the workers have several",
     "options": {"completeWithin": "30 days", "approval": {"above": "10000.00"},
                 "onRefusal": "fail" | "ask",
                 "onLostBeneficiary": "recreate" | "ask",
                 "pollInterval": {"min": "1 hour", "max": "6 hours"}}}

  ${SAME_ID_HELP("payout")}

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    { command: "starter payout --file payout.json --wait", description: "Pay, and await the end" },
    {
      command: "starter payout --file - --id invoice-2026-001 --json < payout.json",
      description: "From a program, under a business key",
    },
  ]),
);
