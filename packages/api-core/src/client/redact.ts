/** What stands in the place of a masked text. */
export const MASK = "[redacted]";

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

/**
 * A sensitive field of JSON with its value, also of JSON inside a JSON text (where quotes carry
 * backslashes, the same number before each), and where the text ends within the value.
 */
const FIELD = new RegExp(
  `((\\\\*)"(?:${SENSITIVE_FIELDS.join("|")})\\2"\\s*:\\s*)(?:\\2"(?:.*?[^\\\\])??(?:\\2"|\\\\*$)|-?[\\d.]+)`,
  "gis",
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

/** The countries that have IBANs, in the order of ISO 3166-1. */
const IBAN_COUNTRIES =
  "AD AE AL AT AZ BA BE BG BH BI BR BY CH CR CY CZ DE DJ DK DO EE EG ES FI FK FO FR GB GE GI GL GR " +
  "GT HN HR HU IE IL IQ IS IT JO KW KZ LB LC LI LT LU LV LY MC MD ME MK MN MR MT MU NI NL NO OM PK " +
  "PL PS PT QA RO RS RU SA SC SD SE SI SK SM SO ST SV TL TN TR UA VA VG XK YE";

const IBAN_COUNTRY = `(?:${IBAN_COUNTRIES.replaceAll(" ", "|")})`;

/** IBANs, card numbers and account numbers, in one piece or in groups. */
const SECRET = [
  `${IBAN_COUNTRY}\\d{2}[a-z0-9]{11,30}`,
  `${IBAN_COUNTRY}\\d{2}(?<gap>[ -])[a-z0-9]{4}(?:\\k<gap>[a-z0-9]{4}){1,6}\\k<gap>[a-z0-9]{1,4}`,
  "(?=(?:\\d ?){12})\\d{2,}(?: \\d{2,}){2,}(?: \\d)?",
  "(?=(?:\\d-?){7})\\d+(?:-\\d+)+",
  "\\d{7,}",
];

/** Either kind, as a whole word; the second group tells which. */
const WORD = new RegExp(
  `(?<![a-z0-9])(?:(${HARMLESS.join("|")})|${SECRET.join("|")})(?![a-z0-9])`,
  "gi",
);

/**
 * Masks what must reach no log, error or span: sensitive fields of JSON, tokens, IBANs, card
 * numbers, digits as long as an account number, and the `known` values given, wherever they stand.
 * Times, amounts and ids stay readable: what stands after the name of an id, and the `ids` given.
 */
export const redact = (
  text: string,
  known: Iterable<string> = [],
  ids: ReadonlyArray<string> = [],
): string => {
  let masked = text;
  for (const value of known) {
    if (value.length >= 4) masked = masked.replaceAll(value, MASK);
  }
  return masked
    .replace(FIELD, `$1"${MASK}"`)
    .replace(BEARER, `Bearer ${MASK}`)
    .replace(WORD, (word, harmless: string | undefined) =>
      harmless === undefined && !ids.includes(word) ? MASK : word,
    );
};

/** The sensitive values of a request, for {@link redact}: what the service may repeat in a message. */
export const sensitiveValues = (fields: Readonly<Record<string, unknown>>): Array<string> =>
  Object.entries(fields).flatMap(([name, value]) =>
    sensitiveFields.has(name) && typeof value === "string" ? [value] : [],
  );

/** The ids of a request, for {@link redact}: what the service may name in a message, and must stay. */
export const idsOf = (fields: Readonly<Record<string, unknown>>): Array<string> =>
  Object.entries(fields).flatMap(([name, value]) =>
    name.endsWith("_id") && typeof value === "string" ? [value] : [],
  );
