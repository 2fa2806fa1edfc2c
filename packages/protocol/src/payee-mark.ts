import { hash } from "node:crypto";
import { isRecord } from "@durable-payments/api-core/values";
import { textAt } from "./values.ts";

const plain = (text: string | undefined): string | null =>
  text
    ?.normalize("NFKC")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .toUpperCase() ?? null;

/**
 * Marks the account of a beneficiary: the same for each spelling of the same account, holder and bank; undefined where it
 * names no account. The account number cannot be read from it, but who knows the number can make the mark.
 */
export const payeeMark = (beneficiary: unknown): string | undefined => {
  if (!isRecord(beneficiary)) return undefined;
  const number = plain(textAt(beneficiary, "iban") ?? textAt(beneficiary, "account_number"));
  if (number === null) return undefined;
  const bank = ["bank_country", "swift_code", "routing_code", "clearing_system"].map((field) =>
    plain(textAt(beneficiary, field)),
  );
  const holder = plain(textAt(beneficiary, "account_holder"));
  return hash("sha256", JSON.stringify([number, holder, ...bank])).slice(0, 32);
};
