/**
 * Meanings of the service's words for the status of a payout, as people decide them. A word that no setting lists could mean
 * anything: until somebody says whether it means paid, its payouts wait. Only the ledger is needed.
 *
 * One person decides alone, so a decision reaches no further than the words of which somebody is asked: what a setting lists
 * is changed there, and a word that no payout shows is a slip of the pen.
 */
import type { Assumptions } from "@durable-payments/client/effect";
import {
  type DecidedWord,
  type MoneyState,
  moneyStateOf,
  plainWord,
  standingAfter,
  type UseOfWord,
  type WordMeaning,
} from "@durable-payments/ledger";
import { invalidInput, refused } from "../errors.ts";
import type { Deciding } from "../facts/connection/connections.ts";
import { type Acting, actorOf } from "./decide/record.ts";

type OfLedger = Pick<Deciding, "ledger">;

/** Payouts that a word concerns, of one state and currency; `amount` is their exact sum. */
export interface PayoutsOfWord extends Pick<
  UseOfWord,
  "amount" | "count" | "currency" | "example"
> {
  readonly state: MoneyState;
}

/** A decision about a word, and the payouts that it concerns. */
export interface DecidedMeaning {
  /** Hash of the account. */
  readonly account: string;
  readonly word: string;
  readonly means: WordMeaning;
  /** The decision that it replaces. */
  readonly before: DecidedWord | null;
  /** Payouts that it concerns, as they were, by standing and currency. */
  readonly were: ReadonlyArray<PayoutsOfWord>;
  /** The same payouts, as they are recorded now. */
  readonly are: ReadonlyArray<PayoutsOfWord>;
  /** The same payouts once the worker has read them again; null if they show another status, whose meaning counts then. */
  readonly willBe: ReadonlyArray<
    Omit<PayoutsOfWord, "state"> & { readonly state: MoneyState | null }
  >;
}

const LISTS = [
  "payoutCompletedStatuses",
  "payoutFailedStatuses",
  "payoutReturnedStatuses",
  "completeTimeStatuses",
] as const satisfies ReadonlyArray<keyof Assumptions>;

const payoutsOf = ({ amount, count, currency, example }: UseOfWord) => ({
  amount,
  count,
  currency,
  example,
});

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
  { ledger }: OfLedger,
  account: string,
  word: string,
  means: WordMeaning,
  acting: Acting,
  assumptions?: Assumptions,
): Promise<DecidedMeaning> => {
  const is = plainWord(word);
  if (is === "") throw invalidInput("Give the word of the service. Nothing was done.");
  const actor = actorOf(acting, true);
  const list = LISTS.find((name) => assumptions?.[name].some((one) => plainWord(one) === is));
  if (list !== undefined)
    throw refused(
      `The setting assumptions.${list} lists the word "${word}". Change the setting. Nothing was done.`,
    );
  const [decided, were] = await Promise.all([
    ledger.decidedWords(account),
    ledger.useOfWord(account, word),
  ]);
  const before = decided.find((one) => one.word === is) ?? null;
  if (before === null && were.length === 0)
    throw refused(
      `No payout under way of the account has the status "${word}". Check the spelling and the account. Nothing was done.`,
      { action: "inbox" },
    );
  await ledger.decideWord(account, word, means, actor);
  // An outcome that followed from another meaning is no longer recorded; any other stays until the next reading.
  const isChanged = before !== null && before.means !== means;
  const are = were.map((use) =>
    isChanged && use.decidedWord === is ? { ...use, standing: "made" as const } : use,
  );
  const isShown = (use: UseOfWord) => plainWord(use.word ?? "") === is;
  const outcome = means === "open" ? null : means;
  return {
    account,
    word,
    means,
    before,
    were: were.map((use) => ({ ...payoutsOf(use), state: moneyStateOf(use.standing) })),
    are: are.map((use) => ({ ...payoutsOf(use), state: moneyStateOf(use.standing) })),
    willBe: are.map((use) => ({
      ...payoutsOf(use),
      state: isShown(use) ? moneyStateOf(standingAfter(use.standing, outcome)) : null,
    })),
  };
};

/** Reads the decisions about words that hold, of all accounts. */
export const readWords = ({ ledger }: OfLedger): Promise<ReadonlyArray<DecidedWord>> =>
  ledger.decidedWords();
