import { isRecord } from "@durable-payments/api-core/values";
import { textAt } from "@durable-payments/protocol";
import { isLeftUnread, matchText } from "./match-fields.ts";

/** Whether a field of a beneficiary is legibly shown as another than was sent. */
type IsOther = (sent: string, shown: string) => boolean;

const plain = (text: string): string => text.replaceAll(/[\s-]/g, "").toUpperCase();

const isOtherCode: IsOther = (sent, shown) => {
  const [a, b] = [plain(sent), plain(shown)];
  if (isLeftUnread(b) || !/^[A-Z\d]+$/.test(b)) return false;
  // A part of it, such as its last digits, may be all that is shown.
  return !a.includes(b) && !b.endsWith(a);
};

/** The head office has XXX for its branch, or nothing. */
const branchless = (code: string): string => plain(code).replace(/^(.{8})XXX$/, "$1");

const isOtherSwift: IsOther = (sent, shown) => isOtherCode(branchless(sent), branchless(shown));

/** Codes of countries and currencies; a name in the place of a code says nothing. */
const isOtherShort: IsOther = (sent, shown) =>
  isOtherCode(sent, shown) && plain(sent).length === plain(shown).length;

const isOtherHolder: IsOther = (sent, shown) => matchText(sent, shown) === "different";

/** What an approver is shown of a payee, by its name in the request. A bank has many names: its own says nothing. */
const FIELDS: ReadonlyArray<{
  readonly field: string;
  /** Its name in answers, where that is another. */
  readonly shown?: string;
  readonly isOther: IsOther;
}> = [
  { field: "iban", isOther: isOtherCode },
  { field: "account_number", isOther: isOtherCode },
  { field: "swift_code", isOther: isOtherSwift },
  { field: "clearing_system", isOther: isOtherCode },
  { field: "routing_code_type1", isOther: isOtherCode },
  { field: "routing_code_value1", isOther: isOtherCode },
  { field: "routing_code_type2", isOther: isOtherCode },
  { field: "routing_code_value2", isOther: isOtherCode },
  { field: "account_currency", shown: "account_currency_code", isOther: isOtherShort },
  { field: "bank_country", shown: "bank_country_code", isOther: isOtherShort },
  { field: "account_holder", isOther: isOtherHolder },
];

/**
 * Names what the service legibly shows of a beneficiary otherwise than it was sent: whom it pays, and where.
 *
 * @param request as it was sent.
 * @param beneficiary as an answer shows it: in the details of its bank, or beside them.
 * @returns the field of the request; undefined where nothing contradicts, though it may not be shown.
 */
export const contradictedField = (request: unknown, beneficiary: unknown): string | undefined => {
  const details = isRecord(beneficiary) ? beneficiary["beneficiary_bank_details"] : undefined;
  return FIELDS.find(({ field, isOther, shown = field }) => {
    const sent = textAt(request, field);
    if (sent === undefined) return false;
    const texts = [textAt(details, shown), textAt(beneficiary, shown)];
    return texts.some((text) => text !== undefined && isOther(sent, text));
  })?.field;
};
