import { Argument, Command } from "effect/cli";
import { person, text } from "./flags.ts";
import { described, runCommand } from "./run-command.ts";

const said = {
  word: Argument.String("WORD").pipe(
    Argument.withDescription("Status of a payout, as the service says it and inbox shows it"),
  ),
  means: Argument.Literals("MEANING", ["completed", "failed", "returned", "open"]).pipe(
    Argument.withDescription("completed: it is paid · returned: it came back · open: under way"),
  ),
  account: text("account", "NAME", "Account, by its name; default: the first one"),
  ...person,
};

/** `starter word`: says what a status of the service means. */
export const word = Command.make("word", said, (given) =>
  runCommand(given.json, async (output, work) => {
    const acting = work.actingOf(given, true);
    const account = work.accountMeant(given.account);
    const { means, word } = given;
    await work.onLedger((opened) => work.decideWord(opened, account, word, means, acting));
    output.answer(
      { account, word, means },
      (shown) =>
        `From now on, the word "${shown.word}" means ${shown.means} for all payouts of the account.`,
    );
  }),
).pipe(
  described(
    "Say what a status of the service means",
    `Say what a status that the service gives to payouts means, if no setting lists
  it: paid (completed), failed, returned, or still open. The decision is recorded,
  and holds for all payouts of the account. Requires --reason.`,
    {
      "starter word 'Paid out' completed --by ada --reason 'The bank statement shows it'":
        "Payouts with this status are paid",
    },
  ),
);
