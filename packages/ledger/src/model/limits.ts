/**
 * Limits of an account: the amounts that are paid at all (`maxAmounts`), and those that a second person approves
 * (`approveAbove`).
 *
 * They are decisions like any other, so nobody removes them alone: a first value or a tighter one applies at once, a
 * looser one as soon as somebody else has approved it. The current limits follow from the log alone. A worker, a step
 * or a start can only ask for more.
 */
import { isAtLeast } from "@durable-payments/client/decimal";
import { canonicalDecimal, lookUp } from "@durable-payments/client/values";
import { isSamePerson } from "./person.ts";
import type { Json, WriteRequest } from "./row.ts";
import type { Decision } from "../store/log.ts";

/** Amounts by currency: decimal strings in units of it. */
export type Amounts = Readonly<Record<string, string>>;
type Money = Pick<WriteRequest, "amount" | "currency">;

/**
 * Limits by currency, as decimal strings; null if there are none. A currency that is not listed is not paid, or always
 * needs approval.
 */
export type Limits = {
  readonly maxAmounts: Amounts | null;
  readonly approveAbove: Amounts | null;
};

/** The limits of an account that apply, and a loosening that waits for a second person. */
export interface AccountLimits extends Limits {
  /** Sequence of their last change: approvals before it are void. 0 if there was none. */
  readonly since: number;
  /** A loosening that another person has not approved yet, by its sequence. */
  readonly pending?: Limits & Pick<Decision, "at" | "by" | "reason" | "sequence">;
}

/** Names a currency and an exact amount: 250, 250.0 and 250.00 are one. */
export const moneyOf = ({ amount, currency }: Money): string =>
  `${currency} ${canonicalDecimal(amount ?? "") ?? amount}`;

/** Whether an unsigned decimal string is more than another; an invalid string is more than any. */
const isAbove = (amount: string, limit: string): boolean =>
  !isAtLeast(canonicalDecimal(limit) ?? "", canonicalDecimal(amount) ?? "");

/**
 * Returns why a request is above some limits: a currency that they do not list is not paid.
 *
 * @param all - those of the account and of the worker; null if it has none.
 * @returns a sentence; undefined if it may be sent.
 */
export const overLimit = (
  { amount, currency }: Money,
  all: ReadonlyArray<Amounts | null>,
): string | undefined => {
  if (amount === null || currency === null) return undefined;
  for (const limits of all) {
    if (limits === null) continue;
    const limit = lookUp(limits, currency);
    if (limit === undefined) return `The account's limits do not list ${currency}.`;
    if (isAbove(amount, limit))
      return `${amount} ${currency} is above the limit of ${limit} ${currency}.`;
  }
  return undefined;
};

/** Begins each reason for an approval. */
export const ASKS = "A second person has to approve it:";

/**
 * Returns why the amount of a request needs a second person. A currency that some limits do not list always does,
 * whatever the options say.
 *
 * @param options - thresholds of the step and of its start, in the currency of the request.
 * @param limits - those of the account and of the worker; null if it has none.
 * @returns a sentence; undefined if nobody has to.
 */
export const needsApproval = (
  { amount, currency }: Money,
  options: ReadonlyArray<string | undefined>,
  limits: ReadonlyArray<Amounts | null>,
): string | undefined => {
  if (amount === null || currency === null) return undefined;
  const listed = limits.flatMap((some) => (some === null ? [] : [lookUp(some, currency)]));
  if (listed.includes(undefined)) return `${ASKS} no limit is set for payments in ${currency}.`;
  const above = [...options, ...listed].find(
    (limit) => limit !== undefined && isAbove(amount, limit),
  );
  return above === undefined
    ? undefined
    : `${ASKS} ${amount} ${currency} is above ${above} ${currency}.`;
};

const areLooser = (next: Amounts | null, before: Amounts | null): boolean =>
  before !== null &&
  (next === null ||
    Object.entries(next).some(([currency, amount]) => {
      const limit = lookUp(before, currency);
      return limit === undefined || isAbove(amount, limit);
    }));

/** Whether some limits permit more than others, in any currency. */
const isLooser = (next: Limits, before: Limits): boolean =>
  areLooser(next.maxAmounts, before.maxAmounts) ||
  areLooser(next.approveAbove, before.approveAbove);

// Only `setLimits` writes them.
const amountsAt = (value: Json | undefined): Amounts | null => (value ?? null) as Amounts | null;

/** The workflow id whose log has the limits of an account. */
export const limitsId = (account: string): string => `limits/${account}`;

/** Returns the limits that follow from the decisions about them, oldest first. */
export const limitsOf = (decisions: ReadonlyArray<Decision>): AccountLimits => {
  let now: AccountLimits = { maxAmounts: null, approveAbove: null, since: 0 };
  for (const { at, by, kind, reason, sequence, value } of decisions) {
    const { pending, ...applied } = now;
    if (kind === "limits") {
      const { approveAbove, maxAmounts } = value;
      const next = { maxAmounts: amountsAt(maxAmounts), approveAbove: amountsAt(approveAbove) };
      // The same limits again change nothing, and withdraw a waiting loosening.
      if (isLooser(next, applied))
        now = { ...applied, pending: { ...next, at, by, reason, sequence } };
      else now = isLooser(applied, next) ? { ...next, since: sequence } : applied;
    } else if (kind === "approve" && pending && value["sequence"] === pending.sequence) {
      const { approveAbove, maxAmounts } = pending;
      if (!isSamePerson(by, pending.by)) now = { approveAbove, maxAmounts, since: sequence };
    }
  }
  return now;
};
