import { Command } from "effect/cli";
import { onboarded, paid } from "./flag-sets.ts";
import { exitStatusHelp } from "../exit-codes.ts";
import { described, runPayments } from "./run-command.ts";

/** `durable-payments pay`: pays one payment, or a file of them. */
export const pay = Command.make("pay", paid, (given) =>
  runPayments(given.json, (output, payments, work) =>
    work.isBatchFile(given.file)
      ? work.submitFile(output, payments, given)
      : work.submit(output, payments, "pay", given),
  ),
).pipe(
  described(
    "Make one payment, or every payment in a file",
    `Make one payment, or every payment in a file. No payment is made twice
  under one id, nor under one key, even in another file. A likely duplicate under
  another id is refused, unless --not-a-duplicate gives a reason. In a file, it
  causes a warning. A dry run needs Temporal, too.`,
    {
      "durable-payments pay invoice.json --id invoice-17 --by ada": "One payment",
      "durable-payments pay invoice.json --wait --timeout 5m --by ada": "Its outcome, for a script",
      "durable-payments pay october.csv --dry-run --by ada": "Check a file",
    },
    exitStatusHelp("--wait"),
  ),
);

/** `durable-payments onboard`: issues a card for a cardholder. */
export const onboard = Command.make("onboard", onboarded, (given) =>
  runPayments(given.json, (output, payments, work) =>
    work.submit(output, payments, "onboard", given),
  ),
).pipe(
  described(
    "Issue a card to a new or existing cardholder",
    `Issue a card to a new or existing cardholder. The same id never starts a second
  run. Without --id and --key, the id is derived from the input. A person who was
  onboarded under another id is refused, unless --not-a-duplicate gives a reason.`,
    {},
    exitStatusHelp("--wait"),
  ),
);
