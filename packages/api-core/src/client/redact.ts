import { type KnownValues, maskValues, type Stretch } from "./mask-values.ts";

/** What stands in the place of a masked text. */
const MASK = "[redacted]";

const SENSITIVE_FIELDS = [
  "account_number",
  "iban",
  "card_number",
  "card_num",
  "auth_token",
  "identification_value",
  "routing_code_value1",
  "routing_code_value2",
  "x-api-key",
  "x-auth-token",
];

const sensitiveFields = new Set(SENSITIVE_FIELDS);

/** Fields of requests that say of whom they are: what a service repeats of them reaches no message. */
const personalFields: ReadonlySet<string> = new Set([
  "account_holder",
  "address",
  "city",
  "company_name",
  "date_birth",
  "email",
  "first_name",
  "last_name",
  "nickname",
  "phone_number",
  "postal_code",
]);

/** A list in JSON of short texts and numbers, without brackets in them: a number digit by digit, say. */
const LIST = '\\[(?:[\\s,\\d.-]|\\\\*"[\\w .-]{0,99}\\\\*")*(?:\\]|$)';

/**
 * A sensitive field of JSON with its value, also of JSON inside a JSON text (where quotes carry
 * backslashes, the same number before each), and where the text ends within the value.
 */
const FIELD = new RegExp(
  `((?<!\\\\)(\\\\*)"(?:${SENSITIVE_FIELDS.join("|")})\\2"\\s*:\\s*)(?:\\2"(?:.*?[^\\\\])??(?:\\2"|\\\\*$)|-?[\\d.]+|${LIST})`,
  "gis",
);

const NAME_IN_WORDS = SENSITIVE_FIELDS.map((name) => name.replaceAll(/[_-]/g, "[_ -]?")).join("|");

/**
 * The same in words, with a value that has a digit, and the groups of it that follow:
 * `account_number=AB12345678XY`, `IBAN: DE89 3704 …`, `account number AB12345678XY`. Backslashes and
 * quotes stay as they are, for the text may be of JSON.
 */
const FIELD_IN_WORDS = new RegExp(
  `(?<![a-z0-9])((?:${NAME_IN_WORDS})(?:\\s?[=:#]\\s?\\\\{0,9}["']?|\\s\\\\{0,9}["']?(?=[a-z0-9./_-]{5})))(?=[a-z./_-]{0,40}\\d)[a-z0-9][a-z0-9./_-]{0,99}(?: (?=[a-z]{0,3}\\d)[a-z0-9]{1,6}(?![a-z0-9])){0,9}`,
  "gi",
);

const BEARER = /\bBearer\s+[\w.~+/=-]+/gi;

/** Where the value of an id begins: after its name, in JSON or in words (`payout_id 12345678`). */
const AFTER_ID_NAME =
  "(?<=(?<![a-z0-9_])(?:(?:[a-z]+_)*id\\\\*[\"']?\\s*[:=]\\s*\\\\*[\"']?|(?:[a-z]+_)+id\\s+))";

/** Numbers and codes that are no secret and look like one: ids, times, amounts, short references. */
const HARMLESS = [
  `(?=[\\w-])${AFTER_ID_NAME}[\\w-]+`,
  "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
  "\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?",
  "\\d{1,15}\\.\\d{1,4}",
  "P\\d{6}-\\w{8}",
];

/** Ids that no value which was sent may be found within: UUIDs, short references, `PO20261121000123`. */
const ID =
  /(?<![a-z0-9])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|P\d{6}-\w{8}|[a-z]{2}20\d\d(?:0[1-9]|1[0-2])[0-3]\d{7})(?![a-z0-9])/gi;

const isLetter = (character: string | undefined): boolean => /[a-z0-9]/i.test(character ?? " ");

/** Where the ids that were given stand as whole words. */
const given = (text: string, ids: ReadonlyArray<string>): Array<Stretch> => {
  const found: Array<Stretch> = [];
  for (const id of ids.filter(({ length }) => length > 0)) {
    for (let start = text.indexOf(id); start >= 0; start = text.indexOf(id, start + id.length)) {
      const end = start + id.length;
      if (!isLetter(text[start - 1]) && !isLetter(text[end])) found.push({ start, end });
    }
  }
  return found.toSorted((a, b) => a.start - b.start);
};

const idsIn = (text: string, ids: ReadonlyArray<string>): Array<Stretch> => [
  ...[...text.matchAll(ID)].map(({ 0: id, index }) => ({ start: index, end: index + id.length })),
  ...given(text, ids),
];

/** The countries that have IBANs, in the order of ISO 3166-1. */
const IBAN_COUNTRIES =
  "AD AE AL AT AZ BA BE BG BH BI BR BY CH CR CY CZ DE DJ DK DO EE EG ES FI FK FO FR GB GE GI GL GR " +
  "GT HN HR HU IE IL IQ IS IT JO KW KZ LB LC LI LT LU LV LY MC MD ME MK MN MR MT MU NI NL NO OM PK " +
  "PL PS PT QA RO RS RU SA SC SD SE SI SK SM SO ST SV TL TN TR UA VA VG XK YE";

const IBAN_COUNTRY = `(?:${IBAN_COUNTRIES.replaceAll(" ", "|")})`;

/** IBANs, card numbers and account numbers, in one piece or in groups. */
const SECRET = [
  `${IBAN_COUNTRY}\\d{2}[a-z0-9]{11,30}`,
  `${IBAN_COUNTRY}\\d{2}(?<gap>[ ._/-])[a-z0-9]{4}(?:\\k<gap>[a-z0-9]{4}){1,6}\\k<gap>[a-z0-9]{1,4}`,
  "(?=(?:\\d ?){12})\\d{2,}(?: \\d{2,}){2,}(?: \\d)?",
  "(?=(?:\\d-?){7})\\d+(?:-\\d+)+",
  "\\d{7,}",
];

/** Either kind, as a whole word; the second group is set for one of them only. */
const WORD = new RegExp(
  `(?<![a-z0-9])(?:(${HARMLESS.join("|")})|${SECRET.join("|")})(?![a-z0-9])`,
  "gi",
);

/**
 * Mask what must reach no log, error or span: sensitive fields of JSON, tokens, IBANs, card
 * numbers, digits as long as an account number, and the `known` values given, wherever they occur
 * and however they are written: grouped, in other capitals, encoded, or a part of them. Times,
 * amounts and ids stay readable: what follows the name of an id, and the `ids` given.
 *
 * @param text a message, a body, a line of a log
 * @param known values that must not be shown, account numbers of a request for example; of `personal` ones, names and
 *   addresses, parts are shown
 * @param ids that must stay readable
 * @returns the text with `[redacted]` in their place
 * @example
 * const shown = redact('{"iban":"DE89370400440532013000"}'); // {"iban":"[redacted]"}
 */
export const redact = (
  text: string,
  known: Iterable<string> | KnownValues = [],
  ids: ReadonlyArray<string> = [],
): string => {
  const values = Symbol.iterator in known ? { secrets: known } : known;
  const masked = maskValues(text, values, (within) => idsIn(within, ids), MASK)
    .replace(FIELD, `$1$2"${MASK}$2"`)
    .replace(FIELD_IN_WORDS, `$1${MASK}`)
    .replace(BEARER, `Bearer ${MASK}`);
  const kept = given(masked, ids);
  let next = 0;
  return masked.replace(
    WORD,
    (word, harmless: string | undefined, _gap: string | undefined, start: number) => {
      while ((kept[next]?.end ?? Infinity) <= start) next += 1;
      const isOfId = (kept[next]?.start ?? Infinity) < start + word.length;
      return harmless === undefined && !isOfId ? MASK : word;
    },
  );
};

/**
 * Check by its name whether a field holds what {@link redact} masks in JSON: an account number, a token.
 *
 * @param name as it is on the wire, in any capitals
 * @returns whether its value must reach no log, error or span
 */
export const isSensitiveField = (name: string): boolean => sensitiveFields.has(name.toLowerCase());

const valuesOf = (
  fields: Readonly<Record<string, unknown>>,
  names: ReadonlySet<string>,
): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, value]) =>
    names.has(name) && typeof value === "string" ? [value] : [],
  );

/** Values of a request for {@link redact}: what the service may repeat in a message, and must not be read there. */
export interface RequestValues {
  readonly secrets: ReadonlyArray<string>;
  readonly personal: ReadonlyArray<string>;
}

/** The values of a request that must not be shown. */
export const hiddenValues = (fields: Readonly<Record<string, unknown>>): RequestValues => ({
  secrets: valuesOf(fields, sensitiveFields),
  personal: valuesOf(fields, personalFields),
});

/** The ids of a request, for {@link redact}: what the service may name in a message, and must stay. */
export const idsOf = (fields: Readonly<Record<string, unknown>>): Array<string> =>
  Object.entries(fields).flatMap(([name, value]) =>
    name.endsWith("_id") && typeof value === "string" ? [value] : [],
  );
