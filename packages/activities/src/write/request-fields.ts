import { isAtLeast } from "@durable-payments/api-core/decimal";
import { canonicalDecimal, isRecord } from "@durable-payments/api-core/values";
import type { Fault } from "@durable-payments/api-core";
import type { Json, JsonObject, WriteName } from "@durable-payments/ledger";
import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";

/** Returns a field of an object, where it is a text that says something. */
export const textAt = (value: unknown, field: string): string | undefined => {
  const text = isRecord(value) ? value[field] : undefined;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
};

/** Returns those of the fields that hold a text or a number, as texts. */
export const pickTexts = (value: unknown, fields: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const found = isRecord(value) ? value[field] : undefined;
      return typeof found === "string" || typeof found === "number" ? [[field, String(found)]] : [];
    }),
  );

/** Returns a SHA-256 hash of a value, whatever the order of its fields. */
export const hashOf = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex");

const AMOUNTS: ReadonlySet<string> = new Set(["amount", "card_limit"]);

/** The key follows from name and generation. A card's number can be guessed from a hash; `card_id` names the card. */
const NOT_HASHED: ReadonlySet<string> = new Set(["unique_request_id", "card_number"]);

const normalized = (field: string, value: Json): Json => {
  if (AMOUNTS.has(field) && (typeof value === "string" || typeof value === "number")) {
    return canonicalDecimal(String(value)) ?? value;
  }
  return field === "currency" && typeof value === "string" ? value.toUpperCase() : value;
};

/** Returns the hash by which a request is known again: 10 and 10.00, `eur` and `EUR` are the same. */
export const requestHash = (operation: string, request: JsonObject): string =>
  hashOf([
    operation,
    Object.fromEntries(
      Object.entries(request)
        .filter(([field]) => !NOT_HASHED.has(field))
        .map(([field, value]) => [field, normalized(field, value)]),
    ),
  ]);

/**
 * Derives the `unique_request_id` of a generation of a write: the same on any worker, in any run of the workflow id.
 *
 * @returns a UUID of version 5: 36 characters, the service's limit.
 */
export const keyOf = ({ account, step, workflowId }: WriteName, generation: number): string => {
  const hex = createHash("sha1")
    .update(JSON.stringify(["durable-payments", account, workflowId, step, generation]))
    .digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
};

/** Generations whose keys are searched even where the ledger knows of fewer: it may have been restored. */
const SEARCHED_GENERATIONS = 32;

/** Returns the keys under which other generations of a write may have been sent. */
export const otherKeysOf = (name: WriteName, generation: number): ReadonlyArray<string> =>
  Array.from({ length: Math.max(SEARCHED_GENERATIONS, generation) }, (_, i) => i + 1)
    .filter((other) => other !== generation)
    .map((other) => keyOf(name, other));

/** Amounts by currency, as decimal strings. */
export type Amounts = Readonly<Record<string, string>>;

/** An amount of a currency; both null where no money moves. */
export interface Money {
  readonly amount: string | null;
  readonly currency: string | null;
}

/** Returns the fault of a request that moves more than the account's limit; a currency without one is not paid. */
export const overLimit = (
  { amount, currency }: Money,
  field: string,
  limits: Amounts | null,
): ReadonlyArray<Fault> => {
  if (limits === null || amount === null || currency === null) return [];
  const limit = Object.hasOwn(limits, currency) ? limits[currency] : undefined;
  if (limit !== undefined && isAtLeast(limit, amount)) return [];
  const problem =
    limit === undefined
      ? `is in ${currency}, which the account's limits do not list`
      : `is above the account's limit of ${limit} ${currency}`;
  return [{ field, problem }];
};

/**
 * Returns why a second person has to approve a request: undefined where nobody has to.
 *
 * @param given limit of the step itself, in the payment's currency.
 * @param limits of the account; a currency that they do not list needs approval.
 */
export const needsApproval = (
  { amount, currency }: Money,
  given: string | undefined,
  limits: Amounts | null,
): string | undefined => {
  if (amount === null || currency === null) return undefined;
  const listed = limits !== null && Object.hasOwn(limits, currency) ? limits[currency] : undefined;
  const above = [given, listed].find((limit) => limit !== undefined && !isAtLeast(limit, amount));
  if (above !== undefined) return `${amount} ${currency} is above ${above} ${currency}`;
  return limits !== null && listed === undefined && given === undefined
    ? `no limit is set for payments in ${currency}`
    : undefined;
};
