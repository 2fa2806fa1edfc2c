/*
 * Masks secrets and account numbers in texts for logs, errors and spans.
 *
 * The service repeats parts of a request in its messages, in its own way: in capitals, in groups of digits, with full-
 * width letters. So the values of the request are hidden however they are grouped. In addition, everything that has the
 * form of an account number, a card number or a token is hidden. Base64 is not seen through.
 */
const SECRET_FIELDS = ["auth_token", "x-api-key", "x-auth-token"];

const sensitiveFields: ReadonlySet<string> = new Set([
  ...SECRET_FIELDS,
  "account_number",
  "card_num",
  "card_number",
  "iban",
  "identification_value",
  "routing_code_value1",
  "routing_code_value2",
]);

/** Fields of requests that say of whom they are: their values reach no error either. */
const personalFields: ReadonlySet<string> = new Set([
  "account_holder",
  "address",
  "birth_date",
  "company_name",
  "date_birth",
  "email",
  "first_name",
  "last_name",
  "nickname",
  "phone_number",
  "postal_code",
  "residential_address",
]);

const MASK = "[redacted]";

/** A shorter value may be a part of any word. */
const SHORTEST_VALUE = 4;

/** Times, amounts, UUIDs and short references: they have many digits, and are not secret. */
const READABLE = [
  String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`,
  String.raw`(?:19|20)\d\d-[01]\d-[0-3]\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?`,
  String.raw`P\d{6}-\w{8}`,
  String.raw`\d{1,12}\.\d{1,4}(?!\.)`,
].join("|");

const IBAN = String.raw`[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]){11,30}`;
const DIGITS = String.raw`\p{Nd}(?:[ -]?\p{Nd}){6,}`;

const NUMBER = new RegExp(
  `(?<![A-Z\\d])(${READABLE})(?![A-Z\\d])|(?<![A-Z\\d])${IBAN}|${DIGITS}`,
  "giu",
);

/** Tokens and keys by what precedes them. */
const TOKEN = new RegExp(
  `(\\bBearer\\s+|(?:${SECRET_FIELDS.join("|")})\\\\*["']?\\s*[:=]\\s*\\\\*["']?)[\\w.~+/=-]+`,
  "gi",
);

/** Letters and digits of a value that is hidden however it is grouped: a token has more, and a short name fewer. */
const NUMBER_LENGTH = { least: 7, most: 40 };

/** The values given: numbers with up to three other characters between their own, others as they are written. */
const formOf = (value: string): string | RegExp => {
  const own = value.normalize("NFKC").match(/[\p{L}\p{N}]/gu) ?? [];
  return own.length < NUMBER_LENGTH.least || own.length > NUMBER_LENGTH.most
    ? value
    : new RegExp(own.join(String.raw`[^\p{L}\p{N}]{0,3}`), "giu");
};

/** Replaces the values given. */
const hideValues = (text: string, hidden: ReadonlyArray<string>): string =>
  hidden
    .filter(({ length }) => length >= SHORTEST_VALUE)
    // A value may be a part of another, as an account number is of its IBAN.
    .toSorted((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(formOf(value), MASK), text);

/**
 * Full-width and other forms of letters and digits are written as the plain ones; our own "…" stays. Half of a character
 * is replaced: a worker of Temporal may end by a failure that has it.
 */
const inPlainForm = (text: string): string =>
  text.toWellFormed().replaceAll(/[^\p{ASCII}…]+/gu, (part) => part.normalize("NFKC"));

/**
 * Masks what must reach no log, error or span: the values given, tokens, and the digits of account and card
 * numbers and IBANs but for the last four. Times, amounts, UUIDs and short references stay readable.
 *
 * @param text a message, a line of a log
 * @param hidden values that must not be shown, also in groups: those of a request, a token. Base64 is not seen through
 * @returns the text with `[redacted]` or `…1234` in their place
 * @example
 * const shown = redact('{"iban":"DE89370400440532013000"}'); // {"iban":"…3000"}
 */
export const redact = (text: string, hidden: ReadonlyArray<string> = []): string =>
  hideValues(inPlainForm(text), hidden)
    .replace(TOKEN, `$1${MASK}`)
    .replace(
      NUMBER,
      (number, readable?: string) => readable ?? `…${number.replaceAll(/[ -]/g, "").slice(-4)}`,
    );

/**
 * Checks by its name whether a field holds an account or card number, a document's number or a token.
 *
 * @param name as it is on the wire, in any capitals
 * @returns whether its value must reach no log, error or span
 */
export const isSensitiveField = (name: string): boolean => sensitiveFields.has(name.toLowerCase());

/** Returns the values of a request that must reach no error. */
export const hiddenValues = (fields: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, value]) =>
    (sensitiveFields.has(name) || personalFields.has(name)) && typeof value === "string"
      ? [value]
      : [],
  );

/** Headers whose values open something: cookies, credentials, tokens, keys. */
const SECRET_NAME = /auth|cookie|credential|key|password|secret|session|signature|token/i;

/** The values of a caller's headers that must not be repeated in a message. */
export const secretHeaderValues = (
  headers: Readonly<Record<string, string>>,
): ReadonlyArray<string> =>
  Object.entries(headers).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));

/**
 * The headers of a response for a caller, without secrets: by their names, and the known ones wherever
 * they occur. Several values of one header are separated by commas.
 */
export const maskedHeaders = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  hidden: ReadonlyArray<string>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        SECRET_NAME.test(name) ? MASK : hideValues([value].flat().join(", "), hidden),
      ]),
  );
