import { onboarded, paid } from "./flag-sets.ts";
import { exitStatusHelp } from "../exit-codes.ts";
import { command } from "./run-command.ts";

/** `durable-payments pay`: pays one payment, or a file of them. */
export const pay = command(
  "pay",
  paid,
  (output, payments, given, work) => work.submit(output, payments, "pay", given),
  "Make one payment, or every payment in a file",
  `Make one payment, or every payment in a file. No payment is made twice
  under one id, nor under one key, even in another file. A likely duplicate under
  another id is refused, unless --not-a-duplicate gives a reason. In a file, it
  causes a warning. A dry run also needs Temporal.`,
  {
    "durable-payments pay invoice.json --id invoice-17 --by ada": "One payment",
    "durable-payments pay invoice.json --wait --timeout 5m --by ada": "Its outcome, for a script",
    "durable-payments pay october.csv --dry-run --by ada": "Check a file",
  },
  exitStatusHelp("--wait"),
);

/** `durable-payments onboard`: issues a card to a cardholder, or to each one in a file. */
export const onboard = command(
  "onboard",
  onboarded,
  (output, payments, given, work) => work.submit(output, payments, "onboard", given),
  "Issue a card to a cardholder, or to each one in a file",
  `Issue a card to a new or existing cardholder, or to each one in a file. The same
  id never starts a second run, nor does the same key, even in another file. A
  person who was onboarded under another id, or is in the file twice, is refused,
  unless --not-a-duplicate gives a reason.`,
  {
    "durable-payments onboard ada.json --id ada --by grace": "One person",
    "durable-payments onboard people.csv --dry-run --by grace": "Check a file",
    "durable-payments onboard people.csv --wait --yes --by grace": "The outcome, for a script",
  },
  exitStatusHelp("--wait"),
);
