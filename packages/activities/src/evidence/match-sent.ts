import { isOtherAmount } from "@durable-payments/api-core/decimal";
import { isLeftUnread, matchCurrency, normalizedText, textOf } from "./match-fields.ts";

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
    amount: isOtherAmount(sent.amount, textOf(amount) ?? "", textOf(fee_amount) ?? ""),
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
