import { Command } from "effect/cli";
import { by, count, file, json, on, reason, text, yes } from "./flags.ts";
import { described, runCommand } from "./run-command.ts";

const paid = {
  file: file("One payment (.json, or -), or many (.csv, .jsonl)"),
  id: text("id", "ID", "Workflow id of one payment; default: derived from the input"),
  isNotDuplicate: on("not-a-duplicate", "Pay it although an earlier payment looks the same"),
  isDryRun: on("dry-run", "Check everything, and pay nothing"),
  approveAbove: text("approve-above", "AMOUNT", "A file with a higher total needs a second person"),
  window: count("window", "Most payouts of a file that are being sent; default 200", 200),
  results: text("results", "FILE", "Write the outcome of each row so far, as CSV"),
  by,
  reason,
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
    "Pay one payment, or a file of them",
    `Pay one payment, or a file of them. The same id, and the same row of any
  file, is never paid twice. A likely duplicate under another id is refused; in
  a file it is a warning.`,
    [
      { command: "starter pay invoice.json --id invoice-17", description: "One payment" },
      { command: "starter pay october.csv --dry-run", description: "Check a file" },
    ],
  ),
);

const onboarded = {
  file: file("The input, a JSON file; - reads standard input"),
  id: text("id", "ID", "Workflow id; default: derived from the input"),
  isNotDuplicate: on("not-a-duplicate", "Start it although an earlier one looks the same"),
  isDryRun: on("dry-run", "Check the input, and start nothing"),
  by,
  reason,
  json,
};

export type OnboardFlags = Command.Command.Config.Infer<typeof onboarded>;

/** `starter onboard`: issues a card for a cardholder. */
export const onboard = Command.make("onboard", onboarded, (given) =>
  runCommand(given.json, (output, work) => work.submit(output, work.planOnboarding, given)),
).pipe(
  described(
    "Issue a card to a new or known cardholder",
    `Issue a card to a new or known cardholder. The same id never starts a second
  run; without --id it is derived from the input.`,
  ),
);
