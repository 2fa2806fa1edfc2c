import { shownText, visibleText } from "@durable-payments/client/values";
import { PURPOSES } from "@durable-payments/ledger";
import { stringify } from "csv-stringify/sync";
import type { BatchRowView } from "../rules/batch-rows.ts";
import type { ListedPayment, RunView } from "../rules/run-view.ts";

/** A line of CSV: its cells by column. */
export type CsvLine = Readonly<Record<string, string | number>>;

/** A formula, for a spreadsheet that splits lines at semicolons. */
const FORMULA_WITHIN = /;(?=[\s"']*[-=+@\uFF0B\uFF0D\uFF1D\uFF20])/g;

/** Writes rows as CSV without formulas for a spreadsheet or commands for a terminal. */
export const csvText = (rows: ReadonlyArray<CsvLine>, header: boolean): string =>
  stringify(
    rows.map((row) =>
      Object.entries(row).map(([column, cell]) => {
        if (typeof cell !== "string") return cell;
        const isName = column === "workflow_id" || column === "key";
        return (isName ? visibleText(cell) : shownText(cell)).replaceAll(FORMULA_WITHIN, ";'");
      }),
    ),
    { columns: Object.keys(rows[0] ?? {}), escape_formulas: true, header, quoted_match: /\r/ },
  );

const CARD = PURPOSES.onboardCardholder;

const iso = (at: number | null): string => (at === null ? "" : new Date(at).toISOString());

/** A payment has the same columns in each list: that of all runs, and that of the rows of a file. */
const lineOf = (
  of: Pick<RunView, "batch" | "batchRow" | "reason" | "workflowId"> &
    Pick<BatchRowView, "endedAt" | "startedAt"> & {
      readonly status: string;
      readonly holderId?: string | null;
    },
  payment?: Omit<ListedPayment, "group">,
): CsvLine => ({
  workflow_id: of.workflowId,
  status: of.status,
  money: payment?.state ?? "",
  operation: payment?.operation ?? "",
  // Each id in the column of its kind.
  payout_id: (payment?.operation !== CARD && payment?.madeId) || "",
  card_holder_id: of.holderId ?? (payment?.operation === CARD ? (payment.payee ?? "") : ""),
  card_id: (payment?.operation === CARD && payment.madeId) || "",
  amount: payment?.amount ?? "",
  currency: payment?.currency ?? "",
  payee: payment?.payeeName ?? payment?.payee ?? "",
  payee_account: payment?.payeeAccount ?? "",
  reference: payment?.reference ?? "",
  payment_date: payment?.paymentDate ?? "",
  started_at: iso(of.startedAt),
  ended_at: iso(of.endedAt),
  completed_at: iso(payment?.completedAt ?? null),
  word: payment?.word ?? "",
  batch: of.batch ?? "",
  row: of.batchRow ?? "",
  reason: of.reason ?? "",
});

/** Returns a run as lines of CSV: one for each payment, or one without any. */
export const runCsv = (run: RunView): ReadonlyArray<CsvLine> =>
  run.payments.length === 0 ? [lineOf(run)] : run.payments.map((payment) => lineOf(run, payment));

/** Returns a row of a file as a line of CSV. */
export const rowCsv = (batch: string, row: BatchRowView): CsvLine =>
  lineOf({ ...row, batch, batchRow: row.number }, row);
