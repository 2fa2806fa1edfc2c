import { type BigDecimal, equals, negate } from "effect/BigDecimal";
import { isAmount, parseAmount } from "../evidence/exact-amount.ts";
import type { ServiceRecord } from "./service-reader.ts";

/** How a row of a list compares with what was sent, as a person sees it. */
export type RowMatch =
  /** It has the very key that was sent. */
  | "sameKey"
  /** Every field that both have is the same, and the row has all of them. */
  | "exact"
  /** No field differs, but not all of them can be read. */
  | "possible"
  /** One field differs, which the service may show in its own notation. */
  | "similar"
  | "different";

const normalized = (text: string): string =>
  text.normalize("NFKC").replaceAll(/\s+/g, " ").trim().toLowerCase();

/** Parse an amount in any notation of a list: `3,500.00`, `2500`, 2500; undefined where it is none. */
export const amountOf = (value: unknown): BigDecimal | undefined => {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return undefined;
  const digits = text.replaceAll(",", "").trim();
  return isAmount(digits) ? parseAmount(digits) : undefined;
};

/** Fields that do not identify a payment: dates are written in every notation. */
const NOT_COMPARED = new Set(["payment_date", "unique_request_id"]);

const compareField = (field: string, sent: unknown, listed: unknown): RowMatch => {
  if (listed === undefined || listed === null || typeof listed === "object") return "possible";
  if (field === "amount" || field === "card_limit") {
    const [one, other] = [amountOf(sent), amountOf(listed)];
    if (one === undefined || other === undefined) return "possible";
    // A charge is listed below zero.
    return equals(one, other) || equals(one, negate(other)) ? "exact" : "different";
  }
  if (typeof listed !== "string") return "possible";
  return normalized(String(sent)) === normalized(listed) ? "exact" : "different";
};

/**
 * Compare a row of a list with what a run says that it sent, field by field, as a person does. A payout is
 * a different one where two fields differ; a person, or an amount alone, where one does.
 */
export const compareRow = (sent: ServiceRecord, row: ServiceRecord): RowMatch => {
  const key = sent["unique_request_id"];
  if (typeof key === "string" && key !== "" && row["unique_request_id"] === key) return "sameKey";
  let match: RowMatch = "exact";
  let different = 0;
  for (const [field, value] of Object.entries(sent)) {
    if (NOT_COMPARED.has(field)) continue;
    const compared = compareField(field, value, row[field]);
    if (compared === "different") different += 1;
    if (compared === "possible") match = "possible";
  }
  if (different === 0) return match;
  return different === 1 && "beneficiary_id" in sent ? "similar" : "different";
};
