import { canonicalDecimal } from "@durable-payments/client/values";
import { hashOf } from "./account.ts";
import type { JsonFields } from "./values.ts";

// The worker hashes what it sends, and the uploader of a file what its rows will send: one function, or no row is paid.

const AMOUNTS: ReadonlySet<string> = new Set(["amount", "card_limit"]);

/** The key follows from name and generation. A card's number can be guessed from a hash; `card_id` names the card. */
const NOT_HASHED: ReadonlySet<string> = new Set(["unique_request_id", "card_number"]);

const normalized = (field: string, value: unknown): unknown => {
  if (AMOUNTS.has(field) && (typeof value === "string" || typeof value === "number")) {
    return canonicalDecimal(String(value)) ?? value;
  }
  return field === "currency" && typeof value === "string" ? value.toUpperCase() : value;
};

/** Returns the hash that identifies a request: 10 and 10.00, `eur` and `EUR` are equal. */
export const requestHash = (operation: string, request: JsonFields): string =>
  hashOf([
    operation,
    Object.fromEntries(
      Object.entries(request)
        .filter(([field]) => !NOT_HASHED.has(field))
        .map(([field, value]) => [field, normalized(field, value)]),
    ),
  ]);

/**
 * Returns the hash of the part of a request that an approval covers: everything, but the payee of a payout and the person of a
 * card, which are compared on their own. So it is known before the beneficiary or the cardholder is created. Nor the balance
 * that funds a card: an account has one in USD.
 */
export const requestTerms = (operation: string, request: JsonFields): string => {
  const { beneficiary_id: _, ...payout } = request;
  const { balance_id: _balance, card_holder_id: _person, ...card } = request;
  const terms = operation === "createPayout" ? payout : request;
  return requestHash(operation, operation === "createCard" ? card : terms);
};
