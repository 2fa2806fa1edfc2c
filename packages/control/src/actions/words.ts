/**
 * Meanings of the service's words for the status of a payout, as people decide them. A word that no setting lists could mean
 * anything: until somebody says whether it means paid, its payouts wait. Only the ledger is needed.
 */
import type { WordMeaning } from "@durable-payments/ledger";
import { invalidInput } from "../errors.ts";
import type { Deciding } from "../facts/connection/operations.ts";
import { type Acting, actorOf } from "./decide/record.ts";

/** The meanings of a word. */
export const MEANINGS = [
  "completed",
  "failed",
  "returned",
  "open",
] as const satisfies ReadonlyArray<WordMeaning>;

/**
 * Records what a word of the service means for all payouts of an account, from now on.
 *
 * @param account hash of the account.
 * @throws InvalidInput if there is no word, no person or no reason.
 */
export const decideWord = async (
  { ledger }: Pick<Deciding, "ledger">,
  account: string,
  word: string,
  means: WordMeaning,
  acting: Acting,
): Promise<void> => {
  if (word.trim() === "") throw invalidInput("Give the word of the service. Nothing was done.");
  await ledger.decideWord(account, word, means, actorOf(acting, true));
};
