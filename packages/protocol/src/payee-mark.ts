import { hash } from "node:crypto";
import { isRecord } from "@durable-payments/api-core/values";
import { textAt } from "./values.ts";

/** What says which account is paid, beside its number and the country of its bank. */
const FIELDS = [
  "account_holder",
  "swift_code",
  "clearing_system",
  "routing_code_type1",
  "routing_code_value1",
  "routing_code_type2",
  "routing_code_value2",
];

const plain = (text = ""): string =>
  text
    .normalize("NFKC")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .toUpperCase();

/** Returns the details of a beneficiary's bank: in a request beside the others, in an answer an object of their own. */
export const bankOf = (beneficiary: unknown): unknown =>
  isRecord(beneficiary) && isRecord(beneficiary["beneficiary_bank_details"])
    ? beneficiary["beneficiary_bank_details"]
    : beneficiary;

/**
 * Marks the account of a beneficiary, as it is requested or shown: the same for each spelling of the same account, holder
 * and bank; undefined where nothing names one. The account number cannot be read from it, but who knows the number can
 * make the mark.
 */
export const payeeMark = (beneficiary: unknown): string | undefined => {
  const bank = bankOf(beneficiary);
  const number = textAt(bank, "iban") ?? textAt(bank, "account_number");
  const country = textAt(bank, "bank_country") ?? textAt(bank, "bank_country_code");
  const said = [number, country, ...FIELDS.map((field) => textAt(bank, field))].map(plain);
  return said.every((text) => text === "")
    ? undefined
    : hash("sha256", JSON.stringify(said)).slice(0, 32);
};
