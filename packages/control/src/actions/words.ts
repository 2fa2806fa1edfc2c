/**
 * Meanings of the service's words for the status of a payout, as people decide them. A word that no setting lists could mean
 * anything: until somebody says whether it means paid, its payouts wait. Only the ledger is needed.
 *
 * One person decides alone, so a decision reaches no further than the words of which somebody is asked: what a setting lists
 * is changed there, and a word that no payout shows is a slip of the pen.
 */
import type { Assumptions } from "@durable-payments/client/effect";
import { moneyStateOf, plainWord, type WordMeaning } from "@durable-payments/ledger";
import { invalidInput, refused } from "../errors.ts";
import type { Deciding } from "../facts/connection/connections.ts";
import { type Acting, actorOf } from "./decide/record.ts";

/** A decision about a word, and the payouts that it concerns. */
export type DecidedMeaning = Awaited<ReturnType<typeof decideWord>>;

const LISTS = [
  "payoutCompletedStatuses",
  "payoutFailedStatuses",
  "payoutReturnedStatuses",
  "completeTimeStatuses",
] as const satisfies ReadonlyArray<keyof Assumptions>;

/**
 * Records what a word of the service means for all payouts of an account, from now on. Payouts whose outcome followed from
 * another meaning of it are under way again, until the tracker has read them.
 *
 * @param account hash of the account.
 * @param assumptions those of the account; its worker ignores a decision about a word that they list.
 * @throws InvalidInput if there is no word, no person or no reason; NotAllowed if a setting lists the word, or no payout under
 *   way shows it and nobody has decided about it before.
 */
export const decideWord = async (
  { ledger }: Pick<Deciding, "ledger">,
  account: string,
  word: string,
  means: WordMeaning,
  acting: Acting,
  assumptions?: Assumptions,
) => {
  const is = plainWord(word);
  if (is === "") throw invalidInput("Give the word of the service. Nothing was done.");
  const actor = actorOf(acting, true);
  const list = LISTS.find((name) => assumptions?.[name].some((one) => plainWord(one) === is));
  if (list !== undefined)
    throw refused(
      `The setting assumptions.${list} lists the word "${word}". Change the setting. Nothing was done.`,
    );
  const [decided, uses] = await Promise.all([
    ledger.decidedWords(account),
    ledger.useOfWord(account, word),
  ]);
  const before = decided.find((one) => one.word === is) ?? null;
  if (before === null && uses.length === 0)
    throw refused(
      `No payout under way of the account has the status "${word}". Check the spelling and the account. Nothing was done.`,
      { action: "inbox" },
    );
  await ledger.decideWord(account, word, means, actor);
  return {
    /** Hash of the account. */
    account,
    word,
    means,
    /** The decision that it replaces. */
    before,
    /** Payouts that it concerns, as they were recorded before, by state and currency: `amount` is their exact sum. The worker reads them again. */
    payouts: uses.map(({ amount, count, currency, example, standing }) => ({
      amount,
      count,
      currency,
      example,
      state: moneyStateOf(standing),
    })),
  };
};
