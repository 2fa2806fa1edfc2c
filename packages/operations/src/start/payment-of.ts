import { isRecord } from "@durable-payments/api-core/values";
import { accountNumbersOf, textAt, withoutAccounts } from "@durable-payments/protocol";
import { payeeMark } from "@durable-payments/protocol/payee-mark";

/** What a run is to pay, for lists, texts and the check of likely duplicates. No account number. */
export interface PaymentOf {
  /** Decimal string in units of `currency`. */
  readonly amount: string;
  readonly currency: string;
  /** A `beneficiary_id`, or the mark of a beneficiary's account. */
  readonly payee: string | null;
  readonly reference: string | null;
}

/** The one currency of cards. */
const CARD_CURRENCY = "USD";

const amountAt = (value: unknown, field: string): string | undefined => {
  const amount = isRecord(value) ? value[field] : undefined;
  return typeof amount === "number" ? String(amount) : textAt(value, field);
};

/**
 * Reads what a run pays from its input: of `payout` and `onboardCardholder`, and of a user's own workflow whose input
 * has `payout`, or `amount` and `currency`, in the same places.
 *
 * @returns undefined where the input names no money.
 */
export const paymentOf = (input: unknown): PaymentOf | undefined => {
  if (!isRecord(input)) return undefined;
  const limit = amountAt(input["card"], "card_limit");
  if (limit !== undefined) {
    const payee = textAt(input, "card_holder_id") ?? null;
    return { amount: limit, currency: CARD_CURRENCY, payee, reference: null };
  }
  const payout = isRecord(input["payout"]) ? input["payout"] : input;
  const [amount, currency] = [amountAt(payout, "amount"), textAt(payout, "currency")];
  if (amount === undefined || currency === undefined) return undefined;
  const { beneficiary } = input;
  const reference = textAt(payout, "payout_reference");
  return {
    amount,
    currency: currency.toUpperCase(),
    payee: textAt(input, "beneficiary_id") ?? payeeMark(beneficiary) ?? null,
    reference:
      reference === undefined ? null : withoutAccounts(reference, accountNumbersOf(beneficiary)),
  };
};

/** Returns one line for Temporal's Web UI: `EUR 250.00, Invoice 17`. */
export const summaryOf = (payment: PaymentOf | undefined, workflowType: string): string => {
  if (payment === undefined) return workflowType;
  const { amount, currency, reference } = payment;
  return `${currency} ${amount}${reference === null ? "" : `, ${reference}`}`.slice(0, 200);
};

/** Returns details for Temporal's Web UI: who started the run, and where to read on. */
export const detailsOf = (workflowId: string, startedBy: string): string =>
  [
    `Started by ${startedBy}.`,
    "State, decisions and next steps, in a terminal:",
    `    starter show ${workflowId}`,
  ].join("\n\n");
