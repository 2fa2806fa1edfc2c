import { AMENDED_MARK, PAYMENT_BATCH, PAYMENT_IDS, queryText } from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import type { Temporal } from "../connection/temporal.ts";
import { isPlainAmount } from "../runs/batch-content.ts";
import { orNull } from "../runs/or-null.ts";
import { readPayment } from "../runs/payment.ts";
import { Totals } from "../totals.ts";
import { findRuns } from "./latest-runs.ts";

const READ_AT_ONCE = 16;

/** What a batch pays as it is sent now. */
export interface SentTotals {
  /** Sums by currency: the file's, and for rows that were amended since, what is sent now. */
  readonly totals: Readonly<Record<string, string>>;
  /** What the file says, where rows were amended since; null where none was. */
  readonly fileTotals: Readonly<Record<string, string>> | null;
  readonly amendedRows: number;
}

/** Change the totals of a file by what runs of its rows were amended to. */
export const withAmended = async (
  temporal: Temporal,
  fileTotals: Readonly<Record<string, string>>,
  amended: ReadonlyArray<WorkflowExecutionInfo>,
): Promise<SentTotals> => {
  const totals = new Totals();
  for (const [currency, amount] of Object.entries(fileTotals)) totals.add(currency, amount);
  let amendedRows = 0;
  const payments = await Effect.runPromise(
    Effect.forEach(amended, (run) => Effect.promise(() => orNull(readPayment(temporal, run))), {
      concurrency: READ_AT_ONCE,
    }),
  );
  for (const payment of payments) {
    if (payment?.before === undefined) continue;
    const { amount, before, currency } = payment;
    // Whoever started the run wrote it.
    if (!isPlainAmount(amount) || !isPlainAmount(before.amount)) continue;
    totals.subtract(before.currency.toUpperCase(), before.amount);
    totals.add(currency, amount);
    amendedRows += 1;
  }
  return {
    totals: totals.amounts,
    fileTotals: amendedRows === 0 ? null : fileTotals,
    amendedRows,
  };
};

/**
 * Sum what a batch pays now: the totals of its file, changed by its own runs that were amended since. Rows that other
 * files pay are not among them.
 */
export const readSentTotals = async (
  temporal: Temporal,
  batch: string,
  fileTotals: Readonly<Record<string, string>>,
): Promise<SentTotals> => {
  const query = `${PAYMENT_BATCH.name} = ${queryText(batch)} AND ${PAYMENT_IDS.name} = ${queryText(AMENDED_MARK)}`;
  const ids = new Set<string>();
  for await (const run of temporal.client.workflow.list({ query, pageSize: 1_000 })) {
    ids.add(run.workflowId);
  }
  return withAmended(temporal, fileTotals, [...(await findRuns(temporal, [...ids])).values()]);
};
