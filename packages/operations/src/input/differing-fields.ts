import { canonicalJson } from "@durable-payments/activities/payout-content";
import { canonicalDecimal, isRecord } from "@durable-payments/api-core/values";
import { patchedFields } from "@durable-payments/protocol";

/** A value within an input, by its path: `payout.amount`. */
export const valueAt = (value: unknown, field: string): unknown =>
  field
    .split(".")
    .reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), value);

const AMOUNTS: ReadonlySet<string> = new Set(["payout.amount", "card.card_limit"]);

/** One spelling of a value: 51.0 is 51.00. */
const canonical = (input: unknown, field: string): string => {
  const value = valueAt(input, field);
  const at =
    AMOUNTS.has(field) && typeof value === "string" ? (canonicalDecimal(value) ?? value) : value;
  return canonicalJson({ at });
};

/** The paths of the fields in which two inputs differ. */
export const differingFields = (one: unknown, other: unknown): ReadonlyArray<string> =>
  [...new Set([...patchedFields(one), ...patchedFields(other)])].filter(
    (field) => canonical(one, field) !== canonical(other, field),
  );
