import { shownText, visibleText } from "@durable-payments/api-core/values";
import { stringify } from "csv-stringify/sync";
import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { invalidInput, refused } from "../errors.ts";
import { payeeParts } from "../facts/payees.ts";
import type { BatchRowView } from "../rules/run-view.ts";

/** A formula, for a spreadsheet that splits lines at semicolons. */
const FORMULA_WITHIN = /;(?=[\s"']*[-=+@\uFF0B\uFF0D\uFF1D\uFF20])/g;

/** Writes rows as CSV without formulas for a spreadsheet or commands for a terminal. */
export const csvText = (
  rows: ReadonlyArray<Readonly<Record<string, string | number>>>,
  header: boolean,
): string =>
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

/** Checks the name of a result file before anything is started. */
export const checkResultFile = (file: string): void => {
  if (extname(file).toLowerCase() !== ".csv")
    throw invalidInput("The result file must end in .csv.");
};

const resultOf = (row: BatchRowView) => {
  const { amount, currency, money, number, outcomeAt, payeeName, reference, word, workflowId } =
    row;
  const [payee, account] = payeeParts(payeeName);
  const isDone = money === "paid" && outcomeAt !== null;
  return {
    row: number,
    key: workflowId.slice(workflowId.indexOf("/") + 1),
    workflow_id: workflowId,
    payout_id: row.payoutId ?? "",
    // A row that an earlier file has paid must not read as unpaid: somebody would pay it again.
    state: row.status === "covered" ? `${money} by an earlier file` : money,
    reason: row.reason ?? "",
    amount: amount ?? "",
    currency: currency ?? "",
    payee: payee === "" ? (row.payee ?? "") : payee,
    payee_account: account,
    reference: reference ?? "",
    word: word ?? "",
    completed_at: isDone ? new Date(outcomeAt).toISOString() : "",
  };
};

/** Words rows of a batch as CSV, with a header. */
export const rowsCsv = (rows: ReadonlyArray<BatchRowView>): string =>
  csvText(rows.map(resultOf), true);

/**
 * Writes the outcome of each row. The file appears when it is complete, and replaces an existing one.
 *
 * @param rows of a batch, as `batchOfId` lists them.
 * @throws Refused if it cannot be written.
 */
export const writeResultFile = async (
  rows: ReadonlyArray<BatchRowView>,
  file: string,
): Promise<void> => {
  const part = `${file}.${randomUUID()}.part`;
  try {
    await writeFile(part, rowsCsv(rows), { mode: 0o600, flag: "wx" });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw typeof code === "string" && /^E[A-Z]+$/.test(code)
      ? refused(`Cannot write ${file}: ${code}.`)
      : error;
  }
};
