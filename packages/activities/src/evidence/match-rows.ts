import { isOtherAmount } from "@durable-payments/api-core/decimal";
import {
  type FieldMatch,
  isLeftUnread,
  matchAmount,
  matchCode,
  matchCurrency,
  matchText,
  normalizedText,
  textOf,
} from "./match-fields.ts";

/** How a listed row compares with a request. */
export type Likeness =
  /** Every field as it was sent. */
  | "exact"
  /** No field is legibly another: perhaps what was sent, written another way. */
  | "near"
  /** One field is legibly another, and no more than one: perhaps what was sent, listed another way. */
  | "similar"
  /** Another's. */
  | "different";

/** A listed row: as it was decoded, or its raw fields where it could not be. */
export type ListedRow = Readonly<Record<string, unknown>>;

const likeness = (fields: ReadonlyArray<FieldMatch>): Likeness => {
  const others = fields.filter((field) => field === "different").length;
  if (others > 0) return others === 1 ? "similar" : "different";
  return fields.every((field) => field === "same") ? "exact" : "near";
};

/** By what one payout of a list differs from another. */
export interface PayoutFields {
  /** Who is paid. */
  readonly beneficiary_id: string;
  /** Three-letter code (ISO 4217). */
  readonly currency: string;
  /** Decimal string in units of `currency`. */
  readonly amount: string;
  /** What the beneficiary's bank history shows. */
  readonly payout_reference?: string | undefined;
}

/** A reference that is the service's own says nothing of the one that was sent. */
const matchReference = (sent: string | undefined, row: ListedRow): FieldMatch => {
  const match = matchText(sent, row["payout_reference"]);
  const isOwn = [row["short_reference"], row["reference_id"], row["payout_id"]].includes(
    row["payout_reference"],
  );
  return match === "different" && isOwn ? "unreadable" : match;
};

/** How what a payout pays, and whom, compares with what was sent. */
const matchMoney = (sent: PayoutFields, row: ListedRow): ReadonlyArray<FieldMatch> => [
  matchCode(sent.beneficiary_id, row["beneficiary_id"]),
  matchCurrency(sent.currency, row["currency"]),
  matchAmount(sent.amount, row["amount"], row["fee_amount"]),
];

/**
 * Compare a listed payout with the one that was sent. It is another's where at least two fields are
 * legibly others: how a service lists one field is not known, and no spelling of one makes a payout
 * another's.
 */
export const matchPayout = (sent: PayoutFields, row: ListedRow): Likeness =>
  likeness([...matchMoney(sent, row), matchReference(sent.payout_reference, row)]);

/** By what one cardholder of a list differs from another; a list shows no dates of birth. */
export interface CardholderFields {
  /** First name. */
  readonly first_name: string;
  /** Last name. */
  readonly last_name: string;
}

/**
 * Compare a listed cardholder with the one that was sent. Of two names one that is legibly another
 * makes another person: families share the last one, and many the first. A name may be written in
 * another way, cut, or stand in the other field.
 */
export const matchCardholder = (sent: CardholderFields, row: ListedRow): Likeness => {
  const { first_name, last_name } = row;
  const asSent = [matchText(sent.first_name, first_name), matchText(sent.last_name, last_name)];
  const swapped = [matchText(sent.first_name, last_name), matchText(sent.last_name, first_name)];
  if (!asSent.includes("different")) return likeness(asSent);
  return swapped.includes("different") ? "different" : "near";
};

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
