/**
 * The limits of an account, as people set and approve them. A tighter limit applies at once; a looser one waits for a second
 * person, who reads the limits before and after it. Only the ledger is needed.
 */
import { isRecord } from "@durable-payments/client/values";
import {
  type AccountLimits,
  type Amounts,
  isSamePerson,
  type Limits,
  overLimit,
} from "@durable-payments/ledger";
import { isAmount } from "@durable-payments/protocol/inputs";
import { invalidInput, notFound, refused } from "../errors.ts";
import type { Deciding } from "../facts/connection/connections.ts";
import { type Acting, actorOf, type Approving } from "./decide/record.ts";

/** The limits of an account, by its hash. */
export interface LimitsView extends AccountLimits {
  readonly account: string;
}

type OfLedger = Pick<Deciding, "ledger">;

/**
 * Reads the limits of accounts.
 *
 * @param accounts hashes; those with limits are added.
 */
export const readLimits = async ({ ledger }: OfLedger, accounts: ReadonlyArray<string> = []) => {
  const all = [...new Set([...accounts, ...(await ledger.limitedAccounts())])];
  return Promise.all(all.map(async (account) => ({ account, ...(await ledger.limits(account)) })));
};

/**
 * Refuses a payment that the limits of its account forbid: its run would only fail.
 *
 * @param nothing says that nothing was done.
 */
export const refuseAboveLimits = async (
  { ledger }: OfLedger,
  account: string,
  payment: Parameters<typeof overLimit>[0],
  nothing: string,
): Promise<void> => {
  const { maxAmounts } = await ledger.limits(account);
  const over = overLimit(payment, [maxAmounts]);
  if (over !== undefined) throw invalidInput(`${over} ${nothing}`);
};

const amountsOf = (name: string, given: unknown): Amounts | null => {
  if (given === null) return null;
  const amounts = isRecord(given) ? Object.entries(given) : [];
  const isAmounts = amounts.every(
    ([currency, amount]) => /^[A-Z]{3}$/.test(currency) && isAmount(amount),
  );
  if (isRecord(given) && isAmounts) return Object.fromEntries(amounts) as Amounts;
  throw invalidInput(
    `${name} must be amounts by currency, such as {"EUR": "1000.00"}, or null for none. Nothing was done.`,
  );
};

/**
 * Sets limits of an account. If one of them is looser, all of them wait for a second person.
 *
 * @param given what is left out stays as it is.
 * @throws InvalidInput
 */
export const setLimits = async (
  { ledger }: OfLedger,
  account: string,
  given: Readonly<Partial<Record<keyof Limits, unknown>>>,
  acting: Acting,
): Promise<LimitsView> => {
  const actor = actorOf(acting, true);
  const now = await ledger.limits(account);
  const next = (name: keyof Limits) =>
    given[name] === undefined ? now[name] : amountsOf(name, given[name]);
  const limits = { maxAmounts: next("maxAmounts"), approveAbove: next("approveAbove") };
  return { account, ...(await ledger.setLimits(account, limits, actor)) };
};

/**
 * Approves the looser limits that wait, as a second person.
 *
 * @param given `hash`: the sequence of what was read; every later change has another one.
 * @throws NotFound if none wait; NotAllowed for the person who set them, or if they are not what `hash` says.
 */
export const approveLimits = async (
  { ledger }: OfLedger,
  account: string,
  { hash, ...acting }: Approving,
): Promise<void> => {
  const actor = actorOf(acting);
  const { pending } = await ledger.limits(account);
  if (pending === undefined)
    throw notFound("No limits are waiting for approval. Nothing was recorded.");
  const { by } = pending;
  if (isSamePerson(actor.by, by))
    throw refused(`${by} set them, so another person has to approve them. Nothing was recorded.`);
  if ((await ledger.approveLimits(account, Number(hash), actor)) !== undefined) return;
  throw refused("They have changed since they were shown: read them again. Nothing was recorded.", {
    action: "inbox",
  });
};
