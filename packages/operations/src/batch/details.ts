import { isRecord } from "@durable-payments/api-core/values";
import type { Batch } from "@durable-payments/ledger";

/** What a batch keeps beside its rows, as JSON. */
export interface KeptOfBatch {
  /** Workflows that start its rows. */
  readonly chunks: number;
  /** Which rows are likely duplicates, for whoever approves it. */
  readonly warnings: ReadonlyArray<string>;
}

/** Reads what a batch keeps beside its rows. */
export const keptOf = ({ details }: Pick<Batch, "details">): KeptOfBatch => {
  const parsed: unknown = JSON.parse(details);
  const { chunks, warnings }: Readonly<Record<string, unknown>> = isRecord(parsed) ? parsed : {};
  return {
    chunks: typeof chunks === "number" ? chunks : 0,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
};
