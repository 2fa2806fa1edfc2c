import {
  type DecidedMeaning,
  decideWord,
  type MEANINGS,
  readWords,
} from "@durable-payments/control";
import { badUsage } from "../exit-codes.ts";
import { MONEY_WORDS } from "@durable-payments/control/show";
import type { Output } from "../output/output.ts";
import { counted, money, when } from "../output/text.ts";
import { accountMeant, accountNameHere, assumptionsHere, onLedger } from "../settings.ts";
import { type ActingFlags, actingOf } from "./given.ts";

interface WordFlags extends ActingFlags {
  readonly word: string;
  readonly means: (typeof MEANINGS)[number] | undefined;
  readonly account: string | undefined;
}

type Said = Omit<NonNullable<DecidedMeaning["before"]>, "account">;

const saidText = ({ at, by, means, reason }: Said): string =>
  `${means}, as ${by} said on ${when(at)}${reason === null ? "" : `: ${reason}`}`;

const useText = ({ count, example, state, ...sum }: DecidedMeaning["were"][number]): string =>
  `${counted(count, "payout")} ${MONEY_WORDS[state]}, ${money(sum)} (${count > 1 ? "such as " : ""}${example})`;

const usesText = (uses: DecidedMeaning["were"]): string => uses.map(useText).join("; ") || "none";

/** Lists what was said of words, of all accounts. */
export const showWords = (output: Output): Promise<void> =>
  onLedger(async (opened) => {
    output.answer({ words: await readWords(opened) }, ({ words }) =>
      words.length === 0
        ? "Nobody has said what a word means."
        : words
            .map((one) => `${accountNameHere(one.account)}: "${one.word}" means ${saidText(one)}`)
            .join("\n"),
    );
  });

/** Says what a word means for an account. */
export const sayWord = async (output: Output, flags: WordFlags): Promise<void> => {
  const { means, word } = flags;
  if (means === undefined)
    throw badUsage("Say what it means: completed, failed, returned or open. Nothing was done.");
  const acting = actingOf(flags, true);
  const account = accountMeant(flags.account);
  await onLedger(async (opened) => {
    const decided = await decideWord(
      opened,
      account,
      word,
      means,
      acting,
      assumptionsHere(account),
    );
    output.answer(decided, (shown) =>
      [
        `From now on, the word "${shown.word}" means ${shown.means} for all payouts of the account.`,
        ...(shown.before === null ? [] : [`Before: ${saidText(shown.before)}.`]),
        `Payouts before: ${usesText(shown.were)}.`,
        `Payouts now: ${usesText(shown.are)}.`,
        "Within a minute, the worker reads those that are under way again.",
      ].join("\n"),
    );
  });
};
