import { canonicalDecimal, isRecord, lookUp } from "@durable-payments/api-core/values";
import { type BatchRow, batchId, type PayoutInput, WORKFLOW } from "@durable-payments/protocol";
import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";

export { canonicalJson };

const HASH_CHARACTERS = 32;

/**
 * Make a workflow id from what a run is to do. How it is to wait (`options`) is left out, so that
 * the same payment with another patience is still the same payment.
 */
export const idOfContent = (
  prefix: string,
  { options: _, ...content }: { readonly options?: unknown },
): string => {
  const hash = createHash("sha256").update(canonicalJson(content)).digest("hex");
  return `${prefix}-${hash.slice(0, HASH_CHARACTERS)}`;
};

/** The fields that are sent in capitals, however they are given. */
const CAPITALS: Readonly<Record<string, ReadonlyArray<string>>> = {
  payout: ["currency", "country"],
  beneficiary: ["account_currency", "bank_country", "country_code"],
};

/** Write a payment with its codes in capitals: totals, limits and ids are the same for `eur` and `EUR`. */
export const inCapitals = (input: PayoutInput): PayoutInput => {
  const parts = Object.entries(input).map(([part, value]: [string, unknown]) => [
    part,
    isRecord(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, text]) => [
            name,
            lookUp(CAPITALS, part)?.includes(name) && typeof text === "string"
              ? text.toUpperCase()
              : text,
          ]),
        )
      : value,
  ]);
  // The same fields; some texts are in capitals.
  return Object.fromEntries(parts) as PayoutInput;
};

/** Name what a payout pays to whom: the same for 51.0 and 51.00, and for `eur` and `EUR`. */
export const contentOfPayout = (given: PayoutInput): string => {
  const input = inCapitals(given);
  const amount: unknown = input.payout.amount;
  const plain = typeof amount === "string" ? (canonicalDecimal(amount) ?? amount) : amount;
  const content = { ...input, payout: { ...input.payout, amount: plain } };
  return idOfContent(WORKFLOW.payout, content);
};

/** Check whether an input, of whatever origin, pays what a row pays. */
export const paysRow = ({ fingerprint }: BatchRow, input: unknown): boolean =>
  isRecord(input) &&
  isRecord(input["payout"]) &&
  // It has the fields that are hashed.
  contentOfPayout(input as unknown as PayoutInput) === fingerprint;

/** Give the workflow id of the run of a row. */
export const rowWorkflowId = (key: string): string => `payout/${key}`;

/** Hash the rows of a chunk, each as {@link canonicalJson} writes it: all that they hold. */
export const hashOfRows = (rows: ReadonlyArray<string>): string => {
  const hash = createHash("sha256");
  for (const row of rows) hash.update(row).update("\n");
  return hash.digest("base64url");
};

/** Make the workflow id of a batch, of the hashes of its chunks, and so of all that its rows hold. */
export const batchOfChunks = (hashes: ReadonlyArray<string>): string => {
  const content = createHash("sha256").update(hashes.join()).digest("hex");
  return batchId(content.slice(0, HASH_CHARACTERS));
};
