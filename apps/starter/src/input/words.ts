import type { DecidedMeaning, WordGiven } from "@durable-payments/control/payments";
import { MONEY_WORDS } from "@durable-payments/control/show";
import { badUsage } from "../exit-codes.ts";

import { counted, money, when } from "../output/text.ts";
import { accountName } from "../payments.ts";
import { type Act, type ActingFlags, actingOf } from "./given.ts";

type WordFlags = ActingFlags &
  Pick<WordGiven, "account" | "word"> & { readonly means: WordGiven["means"] | undefined };

type Said = Omit<NonNullable<DecidedMeaning["before"]>, "account">;

const saidText = ({ at, by, means, reason }: Said): string =>
  `${means}, as ${by} said on ${when(at)}${reason === null ? "" : `: ${reason}`}`;

const useText = ({ count, example, state, ...sum }: DecidedMeaning["payouts"][number]): string =>
  `${counted(count, "payout")} ${MONEY_WORDS[state]}, ${money(sum)} (${count > 1 ? "such as " : ""}${example})`;

/** Lists what was said of words, of all accounts. */
export const showWords: Act<unknown> = async (output, payments) =>
  output.answer(
    { words: await payments.words() },
    ({ words }) =>
      words
        .map((one) => `${accountName(one.account)}: "${one.word}" means ${saidText(one)}`)
        .join("\n") || "Nobody has said what a word means.",
  );

/** Says what a word means for an account. */
export const sayWord: Act<WordFlags> = async (
  output,
  payments,
  { account, means, word, ...flags },
) => {
  if (means === undefined)
    throw badUsage("Say what it means: completed, failed, returned or open. Nothing was done.");
  const given = { ...actingOf(flags, true), account, means, word };
  output.answer(await payments.word(given), (shown) =>
    [
      `From now on, the word "${shown.word}" means ${shown.means} for all payouts of the account.`,
      ...(shown.before === null ? [] : [`Before: ${saidText(shown.before)}.`]),
      shown.payouts.length === 0
        ? "No payout under way has this status."
        : `The worker reads these again within a minute: ${shown.payouts.map(useText).join("; ")}.`,
    ].join("\n"),
  );
};
