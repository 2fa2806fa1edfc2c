import { canonicalDecimal, isRecord } from "@durable-payments/api-core/values";
import { hashOf } from "@durable-payments/protocol/account";
import type { Json, JsonObject, WriteName } from "@durable-payments/ledger";
import { createHash } from "node:crypto";

/** Returns those of the fields that hold a text or a number, as texts. */
export const pickTexts = (value: unknown, fields: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const found = isRecord(value) ? value[field] : undefined;
      return typeof found === "string" || typeof found === "number" ? [[field, String(found)]] : [];
    }),
  );

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

/** Returns the keys of all generations of a write, the present one first. */
export const keysOf = (row: WriteName & { readonly generation: number }): ReadonlyArray<string> => [
  keyOf(row, row.generation),
  ...otherKeysOf(row, row.generation),
];
