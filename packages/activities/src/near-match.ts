/** How a listed field compares with the field that was sent. */
export type FieldMatch =
  /** Equal as it is written; amounts: the same number, written plainly. */
  | "same"
  /** Not equal as it is written, but perhaps what was sent, written another way. */
  | "near"
  /** Certainly not what was sent. */
  | "different"
  /** Missing, or of no readable form: it tells nothing. */
  | "unreadable";

/** How a listed row compares with a request: only `different` is certainly not of this request. */
export type Likeness = "exact" | "near" | "different";

/** A listed row: as it was decoded, or its raw fields where it could not be. */
export type ListedRow = Readonly<Record<string, unknown>>;

/** Letters of either case alike; upper case first, as `ß` and `SS` are alike. */
const caseless = (text: string): string => text.toUpperCase().toLowerCase();

/**
 * What is left of a text when everything is taken away in which a service may write it another way:
 * case, accents, width, blanks and punctuation.
 */
const lettersAndDigits = (text: string): string =>
  caseless(text.normalize("NFKD")).replaceAll(/[^\p{L}\p{N}]/gu, "");

/**
 * Normalizes a text, so that two texts which a list may show alike become equal.
 *
 * @returns its letters and digits, or the whole text without blanks at its ends where it has none.
 */
export const normalizedText = (text: string): string =>
  lettersAndDigits(text) || caseless(text.normalize("NFKC").trim());

/**
 * Normalizes a key (`unique_request_id`) or an id: equal for two that differ in case and blanks at
 * their ends only.
 */
export const normalizedKey = (key: string): string => caseless(key.trim());

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
};

/** Letters that have no decomposition in Unicode, as they are written in ASCII. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  æ: "ae",
  ð: "d",
  đ: "d",
  ø: "o",
  ħ: "h",
  ł: "l",
  œ: "oe",
  þ: "th",
};

/** Accented letters as German and the Nordic languages spell them in ASCII. */
const SPELLED: Readonly<Record<string, string>> = {
  å: "aa",
  ä: "ae",
  ö: "oe",
  ø: "oe",
  ü: "ue",
};

const replaceLetters = (text: string, letters: Readonly<Record<string, string>>): string =>
  caseless(text).replaceAll(/\P{ASCII}/gu, (letter) => letters[letter] ?? letter);

/** What is left of a text where everything beyond ASCII is taken out. */
const asciiOnly = (text: string): string =>
  caseless(text.normalize("NFC").replaceAll(/[^\da-z]/gi, ""));

/** A text as services write it: without accents, spelled in ASCII, and without what is not ASCII. */
const skeletons = (text: string): ReadonlyArray<string> => [
  // Before the case: some accents have a capital letter of their own.
  lettersAndDigits(replaceLetters(text.normalize("NFKD").replaceAll(/\p{M}/gu, ""), PLAIN_LETTERS)),
  lettersAndDigits(replaceLetters(text.normalize("NFC"), { ...PLAIN_LETTERS, ...SPELLED })),
  asciiOnly(text),
];

const isCut = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

const isAscii = (text: string): boolean => !/\P{ASCII}/u.test(text);

/** Whether a listed text may be the one that was sent, stripped, transliterated or cut. */
const isRewritten = (sent: string, listed: string): boolean => {
  const [a, b] = [skeletons(sent), skeletons(listed)];
  // Of another script, written in Latin: nothing tells how.
  if (!isAscii(a[0] ?? "") && isAscii(b[0] ?? "")) return true;
  return a.some((skeleton, i) => {
    const other = b[i] ?? "";
    return skeleton !== "" && other !== "" && isCut(skeleton, other);
  });
};

/** Letters and digits of a text from which on it is perhaps the same text decorated. */
const SHORTEST_PART = 8;

/**
 * Compares free text. Services strip, transliterate, cut and decorate it: the beginning of the other
 * text is near, and so is a long part of it.
 */
export const matchText = (sent: string | undefined, listed: unknown): FieldMatch => {
  const text = listed === undefined || listed === null ? "" : textOf(listed);
  if (text === undefined) return "unreadable";
  if (text === (sent ?? "")) return "same";
  // What has no letters and digits, such as a dash, may stand in the place of any text.
  const [a, b] = [lettersAndDigits(sent ?? ""), lettersAndDigits(text)];
  if (a === "" || b === "") return "unreadable";
  if (isRewritten(sent ?? "", text)) return "near";
  const [part, whole] = a.length < b.length ? [a, b] : [b, a];
  return part.length >= SHORTEST_PART && whole.includes(part) ? "near" : "different";
};

/** Compares an id or a code, which is one word. */
export const matchCode = (sent: string, listed: unknown): FieldMatch => {
  const text = textOf(listed) ?? "";
  if (text === sent) return "same";
  if (lettersAndDigits(text) === "") return "unreadable";
  return normalizedText(text) === normalizedText(sent) ? "near" : "different";
};

const PLAIN = /^\d+(?:\.\d+)?$/;

/** A decimal without leading zeros, and without zeros after the point that say nothing. */
const canonical = (whole: string, fraction: string): string => {
  const [integer, decimals] = [whole.replace(/^0+(?=\d)/, ""), fraction.replace(/0+$/, "")];
  return decimals === "" ? integer || "0" : `${integer || "0"}.${decimals}`;
};

const plainReading = (text: string): string | undefined => {
  if (!PLAIN.test(text)) return undefined;
  const [whole = "", fraction = ""] = text.split(".");
  return canonical(whole, fraction);
};

/** Every number that a text may stand for; `1.000` is one, or a thousand. */
const readingsOf = (text: string): ReadonlyArray<string> => {
  const number = text
    .normalize("NFKC")
    .replaceAll(/[\s'’_]/gu, "")
    .replace(/^[^\d.,]+/, "")
    .replace(/[^\d]+$/, "");
  if (!/^[\d.,]*\d$/.test(number)) return [];
  const grouped = canonical(number.replaceAll(/[.,]/g, ""), "");
  const point = Math.max(number.lastIndexOf("."), number.lastIndexOf(","));
  if (point === -1 || number.indexOf(number.charAt(point)) !== point) return [grouped];
  return [
    grouped,
    canonical(number.slice(0, point).replaceAll(/[.,]/g, ""), number.slice(point + 1)),
  ];
};

/** The digits of an amount but for zeros at either end: equal in cents and in whole units. */
const significantDigits = (amount: string): string =>
  amount
    .normalize("NFKC")
    .replaceAll(/\D/g, "")
    .replaceAll(/^0+|0+$/g, "");

/**
 * Compares a listed amount with the one that was sent, a plain decimal. One of the same digits may be
 * it in another unit.
 */
export const matchAmount = (sent: string, listed: unknown): FieldMatch => {
  const text = textOf(listed) ?? "";
  const wanted = plainReading(sent);
  if (wanted === undefined) return "unreadable";
  if (plainReading(text) === wanted) return "same";
  const readings = readingsOf(text);
  if (readings.length === 0) return "unreadable";
  const isNear = readings.includes(wanted) || significantDigits(text) === significantDigits(wanted);
  return isNear ? "near" : "different";
};

const likeness = (fields: ReadonlyArray<FieldMatch>): Likeness => {
  if (fields.includes("different")) return "different";
  return fields.every((field) => field === "same") ? "exact" : "near";
};

/** A currency is three letters; anything else tells nothing. */
const matchCurrency = (sent: string, listed: unknown): FieldMatch => {
  const match = matchCode(sent, listed);
  const isCode = /^[a-z]{3}$/.test(normalizedText(textOf(listed) ?? ""));
  return match === "different" && !isCode ? "unreadable" : match;
};

/** What tells one payout from another in a list. */
export interface PayoutFields {
  readonly beneficiary_id: string;
  readonly currency: string;
  readonly amount: string;
  readonly payout_reference?: string | undefined;
}

/** Compares a listed payout with the one that was sent. */
export const matchPayout = (sent: PayoutFields, row: ListedRow): Likeness =>
  likeness([
    matchCode(sent.beneficiary_id, row["beneficiary_id"]),
    matchCurrency(sent.currency, row["currency"]),
    matchAmount(sent.amount, row["amount"]),
    matchText(sent.payout_reference, row["payout_reference"]),
  ]);

/**
 * Names what a payout makes: equal for two payouts that a list may show alike. Lists leave references
 * out, and amounts may be in another unit.
 *
 * @returns fields to make a mark of; they are not to be shown.
 */
export const payoutIntent = ({
  amount,
  beneficiary_id,
  currency,
}: PayoutFields): ReadonlyArray<string> => [
  normalizedText(beneficiary_id),
  normalizedText(currency),
  significantDigits(amount),
];

/** What tells one cardholder from another in a list, which shows no dates of birth. */
export interface CardholderFields {
  readonly first_name: string;
  readonly last_name: string;
}

/**
 * Compares a listed cardholder with the one that was sent. A name may be cut, or stand in the other
 * field: only one whose whole name differs is another.
 */
export const matchCardholder = (sent: CardholderFields, row: ListedRow): Likeness => {
  const fields = [
    matchText(sent.first_name, row["first_name"]),
    matchText(sent.last_name, row["last_name"]),
  ];
  if (likeness(fields) !== "different") return likeness(fields);
  const listed = [row["first_name"], row["last_name"]].map((name) => textOf(name) ?? "");
  const words = (names: ReadonlyArray<string>) =>
    names
      .flatMap((name) => name.split(/\s+/u))
      .map(normalizedText)
      .filter(Boolean)
      .toSorted();
  return words(listed).join(" ") === words([sent.first_name, sent.last_name]).join(" ")
    ? "near"
    : "different";
};

/** Names what a cardholder's creation makes: equal for two that a list may show alike. */
export const cardholderIntent = ({
  first_name,
  last_name,
}: CardholderFields): ReadonlyArray<string> => [
  normalizedText(first_name),
  normalizedText(last_name),
];
