import { isRecord } from "@durable-payments/api-core/values";
import { textAt } from "../write/request-fields.ts";
import { isLeftUnread, matchText, normalizedText } from "./match-fields.ts";

/** A field of a beneficiary as the service shows it, and as it was sent. */
type FieldMatch =
  | "same"
  /** Legible, and another. */
  | "different"
  /** Left out, masked, or there though it was not sent: it says nothing. */
  | "unclear";

type Match = (sent: string, shown: string) => FieldMatch;

const plain = (text: string): string => text.replaceAll(/[\s-]/g, "").toUpperCase();

const matchPlain: Match = (sent, shown) => {
  const [a, b] = [plain(sent), plain(shown)];
  if (a === b) return "same";
  // A part of it, such as its last digits, may be all that is shown.
  const isCut = isLeftUnread(b) || !/^[A-Z\d]+$/.test(b) || a.endsWith(b) || a.startsWith(b);
  return isCut || b.endsWith(a) ? "unclear" : "different";
};

/** The head office has XXX for its branch, or nothing. */
const branchless = (code: string): string => plain(code).replace(/^(.{8})XXX$/, "$1");

const matchSwift: Match = (sent, shown) => matchPlain(branchless(sent), branchless(shown));

/** Codes of countries and currencies; a name in the place of a code says nothing. */
const matchShort: Match = (sent, shown) => {
  const match = matchPlain(sent, shown);
  return match === "different" && plain(sent).length !== plain(shown).length ? "unclear" : match;
};

const matchHolder: Match = (sent, shown) => {
  if (normalizedText(sent) === normalizedText(shown)) return "same";
  return matchText(sent, shown) === "different" ? "different" : "unclear";
};

/** A bank has many names: that another one is shown contradicts no code. */
const matchBank: Match = (sent, shown) =>
  normalizedText(sent) === normalizedText(shown) ? "same" : "unclear";

/** What an approver is shown of a payee: by its name in the request, how it is shown, and compared. */
const FIELDS: ReadonlyArray<{
  readonly field: string;
  /** Its name in answers, where that is another. */
  readonly shown?: string;
  readonly match: Match;
}> = [
  { field: "iban", match: matchPlain },
  { field: "account_number", match: matchPlain },
  { field: "swift_code", match: matchSwift },
  { field: "clearing_system", match: matchPlain },
  { field: "routing_code_type1", match: matchPlain },
  { field: "routing_code_value1", match: matchPlain },
  { field: "routing_code_type2", match: matchPlain },
  { field: "routing_code_value2", match: matchPlain },
  { field: "account_currency", shown: "account_currency_code", match: matchShort },
  { field: "bank_country", shown: "bank_country_code", match: matchShort },
  { field: "account_holder", match: matchHolder },
  { field: "bank_name", match: matchBank },
];

/** How one field of a beneficiary is shown, in the details of its bank and beside them. */
const matchField = (
  { field, match, shown = field }: (typeof FIELDS)[number],
  request: unknown,
  beneficiary: unknown,
): FieldMatch => {
  const sent = textAt(request, field);
  const details = isRecord(beneficiary) ? beneficiary["beneficiary_bank_details"] : undefined;
  const texts = [textAt(details, shown), textAt(beneficiary, shown)].flatMap((text) => text ?? []);
  if (sent !== undefined) {
    const matches = texts.map((text) => match(sent, text));
    if (matches.includes("different")) return "different";
    return matches.length > 0 && matches.every((one) => one === "same") ? "same" : "unclear";
  }
  // An IBAN has the number of the account in it.
  const iban = plain(textAt(request, "iban") ?? "");
  const isKnown = (text: string): boolean =>
    field === "account_number" && plain(text).length > 4 && iban.endsWith(plain(text));
  return texts.every(isKnown) ? "same" : "unclear";
};

/**
 * Name what the service legibly shows of a beneficiary otherwise than it was sent: whom it pays, and where.
 *
 * @param request as it was sent.
 * @param beneficiary as an answer shows it.
 * @returns the field of the request; undefined where nothing contradicts, though it may not be shown.
 */
export const contradictedField = (request: unknown, beneficiary: unknown): string | undefined =>
  FIELDS.find((one) => matchField(one, request, beneficiary) === "different")?.field;

/**
 * Name what the service does not show of a beneficiary as it was sent: another, or none that can be read.
 *
 * @returns the field of the request; undefined where all is shown as it was sent.
 */
export const unprovedField = (request: unknown, beneficiary: unknown): string | undefined =>
  contradictedField(request, beneficiary) ??
  FIELDS.find((one) => matchField(one, request, beneficiary) !== "same")?.field;
