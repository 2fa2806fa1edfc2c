import { compareDecimals } from "./decimal.ts";
import type { WriteRequest } from "./row.ts";

/** Amounts by currency: decimal strings in units of it. */
type Amounts = Readonly<Record<string, string>>;
type Money = Pick<WriteRequest, "amount" | "currency">;

const DECIMAL = /^\d+(?:\.\d+)?$/u;

/** Whether a decimal string without sign is more than another; what is no such string is more than any. */
const isAbove = (amount: string, limit: string): boolean =>
  !DECIMAL.test(amount) || !DECIMAL.test(limit) || compareDecimals(amount, limit) > 0;

const limitOf = (limits: Amounts, currency: string): string | undefined =>
  Object.hasOwn(limits, currency) ? limits[currency] : undefined;

/**
 * Returns why a request is above the limits of its account: a currency that they do not list is not paid.
 *
 * @param limits - null where the account has none.
 * @returns a sentence; undefined where it may be sent.
 */
export const overLimit = (
  { amount, currency }: Money,
  limits: Amounts | null,
): string | undefined => {
  if (limits === null || amount === null || currency === null) return undefined;
  const limit = limitOf(limits, currency);
  if (limit === undefined) return `The account's limits do not list ${currency}.`;
  return isAbove(amount, limit)
    ? `${amount} ${currency} is above the limit of ${limit} ${currency}.`
    : undefined;
};

/**
 * Returns why a second person has to approve a request: a currency that the limits do not list needs approval.
 *
 * @param given - limit of the step itself, in the currency of the request.
 * @param limits - those of the account; null where it has none.
 * @returns a sentence; undefined where nobody has to.
 */
export const needsApproval = (
  { amount, currency }: Money,
  given: string | undefined,
  limits: Amounts | null,
): string | undefined => {
  if (amount === null || currency === null) return undefined;
  const listed = limits === null ? undefined : limitOf(limits, currency);
  const above = [given, listed].find((limit) => limit !== undefined && isAbove(amount, limit));
  const asks = "A second person has to approve it:";
  if (above !== undefined) return `${asks} ${amount} ${currency} is above ${above} ${currency}.`;
  return limits !== null && listed === undefined && given === undefined
    ? `${asks} no limit is set for payments in ${currency}.`
    : undefined;
};
