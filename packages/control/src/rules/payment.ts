import { cleanTexts, isRecord } from "@durable-payments/client/values";
import type { Ledger, PlannedOfRun } from "@durable-payments/ledger";
import { accountNumbersOf, textAt, withoutAccounts } from "@durable-payments/protocol";
import {
  describeAccount,
  likelyPayeeMark,
  payeeMark,
  personMarks,
} from "@durable-payments/protocol/account";
import { paymentFields, type PaymentView } from "./run-view.ts";

/** The payment of a run, for lists, texts and the check of likely duplicates. No account number. */
export interface PaymentOf extends PaymentView {
  readonly amount: string;
  readonly currency: string;
  /** A second mark of the payee, for the check of likely duplicates; null if there is none. */
  readonly alias: string | null;
  /** The payee, for people: holder, country and last four characters of the account, or a person's name; null if an id names it. */
  readonly shown: string | null;
}

/** The currency of cards. */
const CARD_CURRENCY = "USD";

const amountAt = (value: unknown, field: string): string | undefined => {
  const amount = isRecord(value) ? value[field] : undefined;
  return typeof amount === "number" ? String(amount) : textAt(value, field);
};

/** Returns the currency of the payee's account, if an input names it and pays in another one. */
export const otherCurrencyOf = (input: unknown): string | undefined => {
  const { beneficiary, payout } = isRecord(input) ? cleanTexts(input) : {};
  const currency = textAt(beneficiary, "account_currency")?.toUpperCase();
  return currency === textAt(payout, "currency")?.toUpperCase() ? undefined : currency;
};

/**
 * Reads the payment of a run from its input: of `payout` and `onboardCardholder`, and of a user's own workflow whose
 * input has `payout`, or `amount` and `currency`, in the same places.
 *
 * @param ledger keys the mark of the payee's account, to be compared with those that it keeps.
 * @returns undefined if the input names no money.
 */
export const paymentOf = (
  given: unknown,
  ledger?: Pick<Ledger, "keyed">,
): PaymentOf | undefined => {
  const input = cleanTexts(given);
  if (!isRecord(input)) return undefined;
  const keyed = (mark: string): string => ledger?.keyed(mark) ?? mark;
  const limit = amountAt(input["card"], "card_limit");
  if (limit !== undefined) {
    const known = textAt(input, "card_holder_id");
    const person =
      known === undefined ? personMarks(input["cardholder"], keyed) : { payee: known, alias: null };
    const names = ["first_name", "last_name"].map((field) => textAt(input["cardholder"], field));
    const name = names.filter((name) => name !== undefined).join(" ") || null;
    const shown = known === undefined ? name : null;
    return { amount: limit, currency: CARD_CURRENCY, ...person, shown, reference: null };
  }
  const payout = isRecord(input["payout"]) ? input["payout"] : input;
  const [amount, currency] = [amountAt(payout, "amount"), textAt(payout, "currency")];
  if (amount === undefined || currency === undefined) return undefined;
  const { beneficiary } = input;
  const id = textAt(input, "beneficiary_id");
  const reference = textAt(payout, "payout_reference");
  const markOf = (mark: string | undefined) => (mark === undefined ? null : keyed(mark));
  return {
    amount,
    currency: currency.toUpperCase(),
    payee: id ?? markOf(payeeMark(beneficiary)),
    alias: markOf(likelyPayeeMark(beneficiary)),
    shown:
      id === undefined && isRecord(beneficiary) ? describeAccount(beneficiary, keyed).shown : null,
    reference:
      reference === undefined ? null : withoutAccounts(reference, accountNumbersOf(beneficiary)),
  };
};

/** Returns the planned payment of a run, as the ledger keeps it. */
export const plannedFields = (payment: PaymentOf | undefined) =>
  ({
    ...paymentFields(payment),
    alias: payment?.alias ?? null,
    shown: payment?.shown ?? null,
  }) satisfies PlannedOfRun;

/** Returns one line for Temporal's Web UI: `EUR 250.00, Invoice 17`. */
export const summaryOf = (payment: PaymentOf | undefined, workflowType: string): string => {
  if (payment === undefined) return workflowType;
  const { amount, currency, reference } = payment;
  return `${currency} ${amount}${reference === null ? "" : `, ${reference}`}`.slice(0, 200);
};
