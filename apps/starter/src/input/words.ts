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

const useText = ({ count, example, state, ...sum }: DecidedMeaning["willBe"][number]): string => {
  const is = state === null ? "with another status, whose meaning counts" : MONEY_WORDS[state];
  return `${counted(count, "payout")} ${is}, ${money(sum)} (${count > 1 ? "such as " : ""}${example})`;
};

const usesText = (uses: DecidedMeaning["willBe"]): string => uses.map(useText).join("; ") || "none";

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
      `Recorded before: ${usesText(shown.were)}.`,
      `Recorded now: ${usesText(shown.are)}.`,
      ...(shown.were.length === 0
        ? []
        : [
            `Recorded once the worker has read them again, within a minute: ${usesText(shown.willBe)}.`,
          ]),
    ].join("\n"),
  );
};
