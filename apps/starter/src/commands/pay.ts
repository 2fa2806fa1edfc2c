import { Command } from "effect/cli";
import { by, count, file, json, on, text, yes } from "./flags.ts";
import { described, runCommand } from "./run-command.ts";

const paid = {
  file: file("One payment (.json, or - for standard input), or many (.csv, .jsonl)"),
  id: text("id", "ID", "Workflow id of one payment; default: derived from the input"),
  key: text("key", "KEY", "Business key of one payment, as in a file; its id is payout/KEY"),
  notDuplicate: text("not-a-duplicate", "WHY", "Pay what looks like an earlier payment: reason"),
  isDryRun: on("dry-run", "Check everything, but pay nothing"),
  approveAbove: text("approve-above", "AMOUNT", "Require approval of a file with a higher total"),
  window: count("window", "Most started rows without an accepted payout; default 200", 200),
  by,
  yes,
  json,
};

export type PayFlags = Command.Command.Config.Infer<typeof paid>;

/** `starter pay`: pays one payment, or a file of them. */
export const pay = Command.make("pay", paid, (given) =>
  runCommand(given.json, (output, work) =>
    work.isBatchFile(given.file)
      ? work.submitFile(output, given)
      : work.submit(output, work.planPayout, given),
  ),
).pipe(
  described(
    "Make one payment, or every payment in a file",
    `Make one payment, or every payment in a file. No payment is made twice
  under one id, nor under one key, even in another file. A likely duplicate under
  another id is refused, unless --not-a-duplicate gives a reason. In a file, it
  causes a warning.`,
    {
      "starter pay invoice.json --id invoice-17 --by ada": "One payment",
      "starter pay october.csv --dry-run --by ada": "Check a file",
    },
  ),
);

const onboarded = {
  file: file("The input as a JSON file, or - for standard input"),
  id: text("id", "ID", "Workflow id; default: derived from the input"),
  key: text("key", "KEY", "Business key; the id is onboardCardholder/KEY"),
  notDuplicate: text("not-a-duplicate", "WHY", "Onboard a person who looks known: reason"),
  isDryRun: on("dry-run", "Check everything, but start nothing"),
  by,
  json,
};

export type OnboardFlags = Command.Command.Config.Infer<typeof onboarded>;

/** `starter onboard`: issues a card for a cardholder. */
export const onboard = Command.make("onboard", onboarded, (given) =>
  runCommand(given.json, (output, work) => work.submit(output, work.planOnboarding, given)),
).pipe(
  described(
    "Issue a card to a new or existing cardholder",
    `Issue a card to a new or existing cardholder. The same id never starts a second
  run. Without --id and --key, the id is derived from the input. A person who was
  onboarded under another id is refused, unless --not-a-duplicate gives a reason.`,
  ),
);
