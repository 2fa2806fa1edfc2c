/**
 * The limits of an account, as people set and approve them. A tighter limit applies at once; a looser one waits for a second
 * person, who reads the limits before and after it. Only the ledger is needed.
 */
import { canonicalDecimal, isRecord } from "@durable-payments/api-core/values";
import {
  type AccountLimits,
  type Amounts,
  isSamePerson,
  type Limits,
  limitsId,
} from "@durable-payments/ledger";
import { hashOf } from "@durable-payments/protocol/account";
import { invalidInput, notFound, refused } from "../errors.ts";
import type { Deciding } from "../facts/connection/operations.ts";
import { type Acting, actorOf } from "./decide/record.ts";

/** The limits of an account, and the hash of what waits for a second person. */
export interface LimitsView extends AccountLimits {
  /** Hash of the account. */
  readonly account: string;
  /** The id of its log, by which looser limits are approved. */
  readonly id: string;
  /** Names exactly the limits now and those that wait; null if none wait. */
  readonly hash: string | null;
}

type OfLedger = Pick<Deciding, "ledger">;

const HASH_DIGITS = 32;

/** Returns the limits of an account as its approver reads them. */
const viewOf = async ({ ledger }: OfLedger, account: string): Promise<LimitsView> => {
  const limits = await ledger.limits(account);
  const isAsked = limits.pending !== undefined;
  return {
    ...limits,
    account,
    id: limitsId(account),
    hash: isAsked ? hashOf([account, limits]).slice(0, HASH_DIGITS) : null,
  };
};

/**
 * Reads the limits of accounts.
 *
 * @param accounts hashes; those with limits are added.
 */
export const readLimits = async (
  opened: OfLedger,
  accounts: ReadonlyArray<string> = [],
): Promise<ReadonlyArray<LimitsView>> => {
  const limited = await opened.ledger.limitedAccounts();
  const all = [...new Set([...accounts, ...limited])];
  return Promise.all(all.map((account) => viewOf(opened, account)));
};

const amountsOf = (name: string, given: unknown): Amounts | null => {
  if (given === null) return null;
  const amounts = isRecord(given) ? Object.entries(given) : [];
  const isAmounts = amounts.every(
    ([currency, amount]) =>
      /^[A-Z]{3}$/.test(currency) &&
      typeof amount === "string" &&
      canonicalDecimal(amount) !== undefined,
  );
  if (isRecord(given) && isAmounts) return Object.fromEntries(amounts) as Amounts;
  throw invalidInput(
    `${name} must be amounts by currency, such as {"EUR": "1000.00"}, or null for none. Nothing was done.`,
  );
};

/**
 * Sets limits of an account: as far as one of them is looser, all of them wait for a second person.
 *
 * @param given what is left out stays as it is.
 * @throws InvalidInput
 */
export const setLimits = async (
  opened: OfLedger,
  account: string,
  given: Readonly<Partial<Record<keyof Limits, unknown>>>,
  acting: Acting,
): Promise<LimitsView> => {
  const actor = actorOf(acting, true);
  const now = await opened.ledger.limits(account);
  const next = (name: keyof Limits) =>
    given[name] === undefined ? now[name] : amountsOf(name, given[name]);
  const limits = { maxAmounts: next("maxAmounts"), approveAbove: next("approveAbove") };
  await opened.ledger.setLimits(account, limits, actor);
  return viewOf(opened, account);
};

/**
 * Approves the looser limits that wait, as a second person.
 *
 * @throws NotFound if none wait; Refused for the person who set them, or if they are not what `hash` says.
 */
export const approveLimits = async (
  opened: OfLedger,
  account: string,
  { hash, ...acting }: Acting & { readonly hash?: string | undefined },
): Promise<LimitsView> => {
  const actor = actorOf(acting);
  const seen = await viewOf(opened, account);
  if (seen.pending === undefined)
    throw notFound("No limits are waiting for approval. Nothing was recorded.");
  const { by, sequence } = seen.pending;
  if (isSamePerson(actor.by, by))
    throw refused(`${by} set them, so another person has to approve them. Nothing was recorded.`);
  const isSeen = hash === undefined || hash === seen.hash;
  const approved = isSeen && (await opened.ledger.approveLimits(account, sequence, actor));
  if (approved) return viewOf(opened, account);
  throw refused("They are not what was shown: read them again. Nothing was recorded.", {
    operation: "inbox",
  });
};
