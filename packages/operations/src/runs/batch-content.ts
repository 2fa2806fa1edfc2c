import { canonicalDecimal, isRecord } from "@durable-payments/api-core/values";
import { isAccountName, textAt } from "@durable-payments/protocol";

/** What a batch pays, as its file has it. */
export interface BatchContent {
  /** Name of the file; null for a batch that does not say it. */
  readonly file: string | null;
  readonly rows: number;
  /** Name of the account that pays; left out where it has none. */
  readonly account?: string;
  readonly totals: Readonly<Record<string, string>>;
}

/** A count that whoever started a run has written; 0 where it is none. */
export const countAt = (value: unknown, field: string): number => {
  const count = isRecord(value) ? value[field] : undefined;
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
};

/** Whether an amount that whoever started a run has written can be summed. */
export const isPlainAmount = (amount: unknown): amount is string =>
  typeof amount === "string" && canonicalDecimal(amount) !== undefined;

const totalsAt = (value: unknown): BatchContent["totals"] => {
  const totals = isRecord(value) ? value["totals"] : undefined;
  return Object.fromEntries(
    Object.entries(isRecord(totals) ? totals : {}).flatMap(([currency, amount]) =>
      isPlainAmount(amount) ? [[currency, amount]] : [],
    ),
  );
};

/** Read what a batch pays from its memo or its input. Anybody may have started it: what is no amount is left out. */
export const readBatchContent = (value: unknown): BatchContent => ({
  file: textAt(value, "file") ?? null,
  rows: countAt(value, "rows"),
  ...(isRecord(value) && isAccountName(value["account"]) && { account: value["account"] }),
  totals: totalsAt(value),
});
