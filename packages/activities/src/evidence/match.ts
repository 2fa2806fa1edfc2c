/*
 * Compares a listed row with a request, to tell our own write from that of somebody else.
 *
 * The service writes fields in its own way: other letters, titles, capitals, and times in another zone. If our own row
 * seems to be another's, the payment is made twice. If another's seems to be ours, this payment is never made. So a
 * field counts as different only if no rewriting explains it, and one different field is not enough for a payout.
 */
import { lettersAndDigits } from "@durable-payments/client/values";
import { canonicalAmount, isOtherAmount, readingsOf } from "./amounts.ts";
import { remembered } from "./remembered.ts";

const caseless = (text: string): string => text.toUpperCase().toLowerCase();

/** How a listed field compares with the field that was sent. */
export type FieldMatch =
  /** Equal as it is written; amounts: the same number, written plainly. */
  | "same"
  /** Not equal as written, but perhaps another spelling of the same value. */
  | "near"
  /** Legibly different. Whether the row is ours also depends on the other fields. */
  | "different"
  /** Missing, masked or unreadable: it proves nothing. */
  | "unreadable";

/** The letters and digits of a text, or the whole text without blanks at its ends if it has none. */
const normalizedText = remembered(
  (text) => lettersAndDigits(text) || caseless(text.normalize("NFKC").trim()),
);

const UUID =
  /(?<![\da-f])([\da-f]{8})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{12})(?![\da-f])/i;

/** A key as it was sent, if a list shows it without dashes, in braces or with a prefix. */
export const plainKey = remembered(
  (listed) => UUID.exec(listed)?.slice(1).join("-").toLowerCase() ?? listed,
);

/** A value that JSON has as a text or a number, as a text. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
};

/**
 * A text as letters and digits of any script, and of those the ones in ASCII: what a service writes for other letters
 * (ä: a, ae, &auml;, or nothing), it adds to them.
 */
const skeletons = remembered((text): readonly [string, string] => [
  lettersAndDigits(text),
  caseless(text.normalize("NFC").replaceAll(/[^\da-z]/gi, "")),
]);

const isAscii = (text: string): boolean => !/\P{ASCII}/u.test(text);

/** Whether a text has all characters of the other, in their order. */
const holdsAllOf = (text: string, part: string): boolean => {
  let found = 0;
  for (const character of text) {
    if (part.startsWith(character, found)) found += character.length;
  }
  return found === part.length;
};

/** Fewest characters of an overlap that is not a coincidence. */
const SHORTEST_JOINT = 4;

/** Returns how much of the beginning of one text the other ends with, as after a prefix and a cut. */
const jointOf = (ending: string, beginning: string): number => {
  let length = Math.min(ending.length, beginning.length);
  while (!ending.endsWith(beginning.slice(0, length))) length--;
  return length;
};

/** Whether one text can become the other by only adding, or only removing, letters. */
const mayComeOf = (a: string, b: string): boolean => {
  const [part, whole] = a.length < b.length ? [a, b] : [b, a];
  const isJoined = Math.max(jointOf(a, b), jointOf(b, a)) >= SHORTEST_JOINT;
  return part !== "" && (isJoined || holdsAllOf(whole, part));
};

const wordsOf = remembered((text) =>
  text
    .split(/[^\p{L}\p{N}]+/u)
    .map(lettersAndDigits)
    .filter(Boolean)
    .toSorted()
    .join(" "),
);

/** Whether a listed text may be the one that was sent: escaped, transliterated, decorated, cut, … */
const isRewritten = (sent: string, listed: string): boolean => {
  const [a, b] = [skeletons(sent), skeletons(listed)];
  // Another script in Latin letters: the transliteration is unknown.
  if (!isAscii(a[0]) && isAscii(b[0])) return true;
  return (
    wordsOf(sent) === wordsOf(listed) || a.some((skeleton, i) => mayComeOf(skeleton, b[i] ?? ""))
  );
};

/** Signs that mask letters. */
const MASK = /[*•●·█#]{2,}|…|\.{3}|x{3}/i;

/** Whether a text is a number; a number instead of a text in JSON is decoded as one. A reference such as 12e3 is not. */
const isNumeral = (text: string): boolean =>
  Number.isFinite(Number(text)) && (!/e/i.test(text) || String(Number(text)) === text);

/**
 * Compares free text. Services escape, strip, transliterate, decorate, cut and mask it. So it is legibly different only
 * if neither text can become the other by adding or removing letters. A number instead of a text proves nothing.
 */
export const matchText = (sent: string | undefined, listed: unknown): FieldMatch => {
  const text = listed === undefined || listed === null ? "" : textOf(listed);
  if (text === undefined) return "unreadable";
  if (text === (sent ?? "")) return "same";
  // A text without letters and digits, such as a dash, may replace any text.
  if (skeletons(sent ?? "")[0] === "" || skeletons(text)[0] === "") return "unreadable";
  if (isRewritten(sent ?? "", text)) return "near";
  const isOfOtherKind = isNumeral(text) && !isNumeral(sent ?? "");
  return isOfOtherKind || MASK.test(text) ? "unreadable" : "different";
};

const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** Whether a text has nothing to compare: it is empty, a dash or masked. */
export const isLeftUnread = (text: string): boolean =>
  lettersAndDigits(text) === "" || MASK.test(text);

/** Compares an id or a code, which is one word. Another form proves nothing. */
export const matchCode = (sent: string, listed: unknown): FieldMatch => {
  const text = textOf(listed) ?? "";
  if (text === sent) return "same";
  if (isLeftUnread(text)) return "unreadable";
  const [a, b] = [normalizedText(sent), normalizedText(text)];
  if (a === b) return "near";
  return a.length === b.length || (isNumber(a) && isNumber(b)) ? "different" : "unreadable";
};

/** A currency is three letters; anything else proves nothing. */
const matchCurrency = (sent: string, listed: unknown): FieldMatch => {
  const match = matchCode(sent, listed);
  const isCode = /^[a-z]{3}$/.test(normalizedText(textOf(listed) ?? ""));
  return match === "different" && !isCode ? "unreadable" : match;
};

/** Fewest characters of a cut key that identify it: keys are hashes. */
const SHORTEST_KEY = 16;

/**
 * Compares a listed `unique_request_id` with the keys that were sent. A key without dashes, in braces, with a prefix or
 * cut is the key; a part of it may be. A missing key is `unreadable`.
 */
export const matchKey = (keys: ReadonlyArray<string>, listed: string | undefined): FieldMatch => {
  const shown = lettersAndDigits(listed ?? "");
  if (listed === undefined || shown === "") return "unreadable";
  const own = keys.map(lettersAndDigits).filter(Boolean);
  const isKey = (key: string): boolean =>
    shown === key ||
    (key.length >= SHORTEST_KEY && shown.includes(key)) ||
    jointOf(shown, key) >= SHORTEST_KEY;
  if (own.some(isKey)) return "same";
  const isPart = (key: string): boolean => key.includes(shown) || shown.includes(key);
  return MASK.test(listed) || own.some(isPart) ? "near" : "different";
};

/** The digits of an amount without zeros at either end: equal in cents and in whole units. */
const significantDigits = remembered((amount) =>
  amount
    .normalize("NFKC")
    .replaceAll(/\D/g, "")
    .replaceAll(/^0+|0+$/g, ""),
);

const decimalsOf = (plain: string): number => plain.split(".")[1]?.length ?? 0;

/** Numbers closer than this are equal: binary fractions are not exact. */
const SAME_NUMBER = 0.001;

/** Whether a number equals the one that was sent, apart from binary error, a cut or rounding. */
const isRounded = (sent: string, reading: string): boolean => {
  const apart = Math.abs(Number(sent) - Number(reading));
  const decimals = decimalsOf(reading);
  return apart < SAME_NUMBER || (decimals < decimalsOf(sent) && apart < 10 ** -decimals);
};

/**
 * Compares a listed amount with the one that was sent, a plain decimal. Equal digits may be the same amount in another
 * unit, and a difference of the fee may include the fee. No payment is zero, so a zero proves nothing.
 *
 * @param fee that the row lists.
 */
export const matchAmount = (sent: string, listed: unknown, fee?: unknown): FieldMatch => {
  const text = textOf(listed) ?? "";
  const wanted = canonicalAmount(sent);
  if (wanted === undefined) return "unreadable";
  if (canonicalAmount(text) === wanted) return "same";
  const readings = readingsOf(text);
  if (readings.length === 0 || significantDigits(text) === "") return "unreadable";
  const isNear =
    significantDigits(text) === significantDigits(wanted) ||
    readings.some((reading) => isRounded(wanted, reading)) ||
    !isOtherAmount(sent, text, textOf(fee) ?? "");
  return isNear ? "near" : "different";
};

/** How a listed row compares with a request. */
export type Likeness =
  /** Every field as it was sent. */
  | "exact"
  /** No field is legibly different: perhaps the same values in another spelling. */
  | "near"
  /** Exactly one field is legibly different: perhaps the same values, listed another way. */
  | "similar"
  /** Another's. */
  | "different";

/** A listed row: decoded, or its raw fields if it could not be decoded. */
export type ListedRow = Readonly<Record<string, unknown>>;

const likeness = (fields: ReadonlyArray<FieldMatch>): Likeness => {
  const others = fields.filter((field) => field === "different").length;
  if (others > 0) return others === 1 ? "similar" : "different";
  return fields.every((field) => field === "same") ? "exact" : "near";
};

/** Fields that distinguish payouts of a list. */
interface PayoutFields {
  /** The payee. */
  readonly beneficiary_id: string;
  /** Three-letter code (ISO 4217). */
  readonly currency: string;
  /** Decimal string in units of `currency`. */
  readonly amount: string;
  /** The reference in the beneficiary's bank history. */
  readonly payout_reference?: string | undefined;
}

/** A reference of the service proves nothing about the one that was sent. */
const matchReference = (sent: string | undefined, row: ListedRow): FieldMatch => {
  const match = matchText(sent, row["payout_reference"]);
  const isOwn = [row["short_reference"], row["reference_id"], row["payout_id"]].includes(
    row["payout_reference"],
  );
  return match === "different" && isOwn ? "unreadable" : match;
};

/**
 * Compares a listed payout with the one that was sent. It is another's if at least two fields are legibly different: one
 * field alone may be an unknown spelling of the service.
 */
export const matchPayout = (sent: PayoutFields, row: ListedRow): Likeness =>
  likeness([
    matchCode(sent.beneficiary_id, row["beneficiary_id"]),
    matchCurrency(sent.currency, row["currency"]),
    matchAmount(sent.amount, row["amount"], row["fee_amount"]),
    matchReference(sent.payout_reference, row),
  ]);

/** Fields that distinguish cardholders of a list, which shows no dates of birth. */
interface CardholderFields {
  readonly first_name: string;
  readonly last_name: string;
}

/**
 * Compares a listed cardholder with the one that was sent. One legibly different name makes another person: families
 * share the last name, and many people a first name. A name may be spelled differently, cut, or in the other field.
 */
export const matchCardholder = (sent: CardholderFields, row: ListedRow): Likeness => {
  const { first_name, last_name } = row;
  const asSent = [matchText(sent.first_name, first_name), matchText(sent.last_name, last_name)];
  const swapped = [matchText(sent.first_name, last_name), matchText(sent.last_name, first_name)];
  if (!asSent.includes("different")) return likeness(asSent);
  return swapped.includes("different") ? "different" : "near";
};

/** The fields of a payout's request that a response can contradict. */
type SentPayout = Pick<PayoutFields, "amount" | "currency"> &
  Partial<Pick<PayoutFields, "beneficiary_id">>;

const SENT_FIELDS = ["amount", "currency", "beneficiary_id"] as const;

/** Whether an id is another, not the same with other capitals, without dashes, with a prefix, or cut. */
export const isOtherId = (sent: string, shown: unknown): boolean => {
  const text = textOf(shown) ?? "";
  const [a, b] = [normalizedText(sent), normalizedText(text)];
  return !isLeftUnread(text) && !a.includes(b) && !b.includes(a);
};

/**
 * Compares the service's report about a payout with its request. Unlike in a search, it is known to be that payout, so
 * every legible difference is a contradiction.
 *
 * @param fields those that the service shows as they were sent.
 * @returns the reported difference, in words; undefined if nothing contradicts.
 */
export const contradictionOf = (
  sent: SentPayout,
  payout: Readonly<Record<string, unknown>>,
  fields: ReadonlyArray<string> = SENT_FIELDS,
): string | undefined => {
  const { amount, beneficiary_id, currency, fee_amount } = payout;
  const isOther: Readonly<Record<keyof SentPayout, boolean>> = {
    amount: isOtherAmount(sent.amount, textOf(amount) ?? "", textOf(fee_amount) ?? ""),
    currency: matchCurrency(sent.currency, currency) === "different",
    beneficiary_id: isOtherId(sent.beneficiary_id ?? "", beneficiary_id),
  };
  if (!SENT_FIELDS.some((field) => isOther[field] && fields.includes(field))) return undefined;
  const shown = (value: unknown, instead: string) => textOf(value) ?? instead;
  const reported = `${shown(amount, "an unknown amount")} ${shown(currency, "of an unknown currency")}`;
  const payee = isOther.beneficiary_id
    ? [` to ${shown(beneficiary_id, "nobody")}`, ` to ${sent.beneficiary_id}`]
    : ["", ""];
  return `${reported}${payee[0]} for a payout of ${sent.amount} ${sent.currency}${payee[1]}`;
};
