import { canonicalDecimal, cleanTexts, isRecord, lookUp } from "@durable-payments/client/values";
import { hash } from "node:crypto";
import { hashOf } from "./account.ts";
import type { OnboardCardholderInput, PayoutInput } from "./inputs.ts";

// The uploader of a file hashes its rows, and the worker compares what it is given: one function, or no row is started.

/** Fields that are sent in capitals. */
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

/** Hashes an input without its options: the same for each spelling of one payment, such as 51.0 and 51.00. */
export const contentHash = (input: unknown): string => {
  if (!isRecord(input)) return hashOf(input);
  const { options: _, ...content } = inCapitals(cleanTexts(input), true);
  return hashOf(content);
};

const HASH_CHARACTERS = 32;

/** Returns the workflow id that is made of an input, for which its starter gives none. */
export const contentId = (input: PayoutInput | OnboardCardholderInput): string =>
  `${"payout" in input ? "payout" : "onboard"}-${contentHash(input).slice(0, HASH_CHARACTERS)}`;

/** Returns the hash of a row of a file: of its key and its input without options. The same row has it in every file. */
export const fingerprintOf = (key: string, input: PayoutInput | OnboardCardholderInput): string =>
  hash("sha256", `${key}\n${contentId(input)}`).slice(0, HASH_CHARACTERS);
