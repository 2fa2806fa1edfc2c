import { canonicalDecimal, isRecord, lookUp } from "@durable-payments/api-core/values";
import { createHash } from "node:crypto";

/** Returns JSON whose fields are in the order of their names: two equal values give the same text. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Returns the SHA-256 of a value's canonical JSON, in hex. */
export const hashOf = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex");

const HASH_CHARACTERS = 32;

/** The fields that are sent in capitals, however they are given. */
const CAPITALS: Readonly<Record<string, ReadonlyArray<string>>> = {
  payout: ["currency", "country"],
  beneficiary: ["account_currency", "bank_country", "country_code"],
};

const AMOUNTS: Readonly<Record<string, string>> = { payout: "amount", card: "card_limit" };

const canonicalPart = (part: string, value: unknown, isContent: boolean): unknown => {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (typeof field !== "string") return [name, field];
      if (lookUp(CAPITALS, part)?.includes(name)) return [name, field.toUpperCase()];
      return isContent && AMOUNTS[part] === name
        ? [name, canonicalDecimal(field) ?? field]
        : [name, field];
    }),
  );
};

/** Returns an input with its codes in capitals: `eur` and `EUR` are one currency in totals, limits and ids. */
export const inCapitals = <A extends object>(input: A, isContent = false): A =>
  Object.fromEntries(
    Object.entries(input).map(([part, value]) => [part, canonicalPart(part, value, isContent)]),
    // The same fields in another spelling.
  ) as A;

/**
 * Makes a workflow id of what a run is to do: the same for 51.0 and 51.00. How the run waits (`options`) is left out:
 * the same payment with another patience is the same payment.
 */
export const idOfContent = (prefix: string, input: object): string => {
  const { options: _, ...content }: { readonly options?: unknown } = inCapitals(input, true);
  return `${prefix}-${hashOf(content).slice(0, HASH_CHARACTERS)}`;
};
