import { Argument, Command } from "effect/cli";
import * as Option from "effect/Option";
import { person, text } from "./flags.ts";
import { described, runPayments } from "./run-command.ts";

const said = {
  word: Argument.String("WORD").pipe(
    Argument.withDescription("Status of a payout, as the service says it and inbox shows it"),
    Argument.optional,
  ),
  means: Argument.Literals("MEANING", ["completed", "failed", "returned", "open"]).pipe(
    Argument.withDescription(
      "completed: it is paid · failed: it was not paid · returned: it came back · open: under way",
    ),
    Argument.optional,
  ),
  account: text("account", "NAME", "Account, by its name or hash; default: the first one"),
  ...person,
};

/** `durable-payments word`: says what a status of the service means, or shows what was said. */
export const word = Command.make("word", said, (given) =>
  runPayments(given.json, async (output, payments, work) => {
    const means = Option.getOrUndefined(given.means);
    const word = Option.getOrUndefined(given.word);
    if (word === undefined) return work.showWords(output, payments);
    return work.sayWord(output, payments, { ...given, word, means });
  }),
).pipe(
  described(
    "Say what a status of the service means",
    `Say what a status that the service gives to payouts means, if no setting lists
  it: paid (completed), failed, returned, or still open. The decision is recorded,
  and holds for all payouts of the account. It can be corrected: payouts whose
  outcome followed from the meaning before are read again. Requires --reason.
  Without WORD, it lists the decisions of all accounts.`,
    {
      "durable-payments word": "What was said, by whom and when",
      "durable-payments word 'Paid out' completed --by ada --reason 'The bank statement shows it'":
        "Payouts with this status are paid",
    },
  ),
);
