import { money } from "../evidence/exact-amount.ts";
import type { Shown } from "./service-reader.ts";

/** What a person makes of a row beside what was sent. */
export type Likeness =
  /** It bears the very key that was sent. */
  | "ours"
  /** Every field that both show is the same, and it shows all of them. */
  | "exact"
  /** Nothing speaks against it, but not all of it can be read. */
  | "perhaps"
  /** One field is another, which the service may show in its own way. */
  | "similar"
  | "other";

const plain = (text: string): string =>
  text.normalize("NFKC").replaceAll(/\s+/g, " ").trim().toLowerCase();

/** An amount as a person reads it: `3,500.00`, `2500`, 2500; undefined where it is none. */
export const amountOf = (value: unknown): bigint | undefined => {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return undefined;
  const digits = text.replaceAll(",", "").trim();
  return /^-?\d+(\.\d{1,8})?$/.test(digits) ? money(digits) : undefined;
};

/** Fields that do not say which payment it is: dates are written in every way. */
const NOT_COMPARED = new Set(["payment_date", "unique_request_id"]);

const compareField = (field: string, sent: unknown, listed: unknown): Likeness => {
  if (listed === undefined || listed === null || typeof listed === "object") return "perhaps";
  if (field === "amount" || field === "card_limit") {
    const [one, other] = [amountOf(sent), amountOf(listed)];
    if (one === undefined || other === undefined) return "perhaps";
    return one === other || one === -other ? "exact" : "other";
  }
  if (typeof listed !== "string") return "perhaps";
  return plain(String(sent)) === plain(listed) ? "exact" : "other";
};

/**
 * Compares a row of a list with what a run says that it sent, field by field, as a person does. A payout
 * is another's where two fields are; of a name's two, or of an amount alone, one is enough.
 */
export const likenessOf = (sent: Shown, row: Shown): Likeness => {
  const key = sent["unique_request_id"];
  if (typeof key === "string" && key !== "" && row["unique_request_id"] === key) return "ours";
  let likeness: Likeness = "exact";
  let others = 0;
  for (const [field, value] of Object.entries(sent)) {
    if (NOT_COMPARED.has(field)) continue;
    const listed = row[field];
    const one = compareField(field, value, listed);
    if (one === "other") others += 1;
    if (one === "perhaps") likeness = "perhaps";
  }
  if (others === 0) return likeness;
  return others === 1 && "beneficiary_id" in sent ? "similar" : "other";
};
