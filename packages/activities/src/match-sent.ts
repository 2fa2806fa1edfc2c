import { canonicalDecimal } from "@durable-payments/api-core/values";
import { isLeftUnread, matchCurrency, normalizedText, readingsOf, textOf } from "./match-fields.ts";

/** What was sent as a payout, as far as an answer about it can contradict that. */
export interface SentPayout {
  /** Decimal string in units of `currency`. */
  readonly amount: string;
  /** Three-letter code (ISO 4217). */
  readonly currency: string;
  /** Who is paid. */
  readonly beneficiary_id: string;
}

/** The fields of it. */
type SentField = keyof SentPayout;

/** All of them. */
const SENT_FIELDS: ReadonlyArray<SentField> = ["amount", "currency", "beneficiary_id"];

/** Digits in groups of three by one sign, `1.000` too: which of its two numbers it is, nothing says. */
const GROUPED = /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/;

/**
 * Every number that an amount may be as it is written. Not those that a search allows for: here it is known
 * which payout it is, and 5.00 is not 50.00 in another unit.
 */
const amountsOf = (shown: unknown): ReadonlyArray<string> => {
  const text = textOf(shown) ?? "";
  const readings = readingsOf(text);
  const plain = text.replaceAll(/[^\d.,]/g, "");
  return readings.length === 1 || GROUPED.test(plain) ? readings : readings.slice(1);
};

/** Numbers nearer than this are one: a JSON number is no exact decimal. */
const SAME_NUMBER = 0.000_001;

const isOtherAmount = (sent: string, shown: unknown, fee: unknown): boolean => {
  const wanted = canonicalDecimal(sent);
  const amounts = amountsOf(shown);
  // Nothing pays nothing: a zero says nothing.
  if (wanted === undefined || amounts.every((amount) => Number(amount) === 0)) return false;
  if (amounts.includes(wanted)) return false;
  const apart = [0, ...amountsOf(fee).map(Number)];
  return !amounts.some((amount) =>
    apart.some((one) => Math.abs(Math.abs(Number(amount) - Number(wanted)) - one) < SAME_NUMBER),
  );
};

/**
 * Check whether an id is shown that is another one, and not the same in other capitals, without dashes, with
 * something before it, cut or masked.
 */
export const isOtherId = (sent: string, shown: unknown): boolean => {
  const text = textOf(shown) ?? "";
  const [a, b] = [normalizedText(sent), normalizedText(text)];
  return !isLeftUnread(text) && !a.includes(b) && !b.includes(a);
};

/**
 * Compare what the service reports of a payout with what was sent as it. Other than in a search, it is known
 * to be that payout: whatever is legibly another is a contradiction.
 *
 * @param sent what was sent.
 * @param payout as an answer shows it.
 * @param fields those that the service shows as they were sent.
 * @returns what it reports instead, in words; undefined where nothing contradicts.
 */
export const contradictionOf = (
  sent: SentPayout,
  payout: Readonly<Record<string, unknown>>,
  fields: ReadonlyArray<string> = SENT_FIELDS,
): string | undefined => {
  const { amount, beneficiary_id, currency, fee_amount } = payout;
  const isOther: Readonly<Record<SentField, boolean>> = {
    amount: isOtherAmount(sent.amount, amount, fee_amount),
    currency: matchCurrency(sent.currency, currency) === "different",
    beneficiary_id: isOtherId(sent.beneficiary_id, beneficiary_id),
  };
  if (!SENT_FIELDS.some((field) => isOther[field] && fields.includes(field))) return undefined;
  const shown = (value: unknown, instead: string) => textOf(value) ?? instead;
  const reported = `${shown(amount, "an unknown amount")} ${shown(currency, "of an unknown currency")}`;
  const payee = isOther.beneficiary_id
    ? [` to ${shown(beneficiary_id, "nobody")}`, ` to ${sent.beneficiary_id}`]
    : ["", ""];
  return `${reported}${payee[0]} for a payout of ${sent.amount} ${sent.currency}${payee[1]}`;
};
