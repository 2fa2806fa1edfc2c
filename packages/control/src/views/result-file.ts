import { shownText, visibleText } from "@durable-payments/api-core/values";
import type { BatchRow, Ledger, WriteRow } from "@durable-payments/ledger";
import { stringify } from "csv-stringify/sync";
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { extname } from "node:path";
import { invalidInput, refused } from "../errors.ts";

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

const PAGE = 500;

const resultOf = (row: BatchRow, writes: ReadonlyArray<WriteRow>) => {
  const payout = writes.find(({ operation }) => operation === "createPayout");
  const asked = writes.find(({ question }) => question !== null);
  // A row that an earlier file has paid must not read as unpaid: somebody would pay it again.
  const covered = payout?.state === "done" ? "already paid" : "in an earlier file";
  const state = row.state === "covered" ? covered : row.state;
  return {
    row: row.number,
    key: row.workflowId.slice(row.workflowId.indexOf("/") + 1),
    workflow_id: row.workflowId,
    payout_id: payout?.madeId ?? "",
    state: asked === undefined ? state : "needs a person",
    reason: row.message ?? asked?.question?.reason ?? payout?.message ?? "",
    amount: payout?.request.amount ?? row.amount ?? "",
    currency: payout?.request.currency ?? row.currency ?? "",
    reference: row.reference ?? "",
  };
};

/**
 * Writes the outcome of each row. The file appears when it is complete, and replaces an existing one.
 *
 * @throws Refused if it cannot be written.
 */
export const writeResultFile = async (
  ledger: Ledger,
  batch: string,
  file: string,
): Promise<void> => {
  const part = `${file}.${randomUUID()}.part`;
  try {
    const handle = await open(part, "w", 0o600);
    try {
      for (let after = 0; ;) {
        const rows = await ledger.batchRows(batch, { after, limit: PAGE });
        const writes = await Promise.all(rows.map(({ workflowId }) => ledger.rowsOf(workflowId)));
        const results = rows.map((row, at) => resultOf(row, writes[at] ?? []));
        await handle.write(csvText(results, after === 0));
        if (rows.length < PAGE) break;
        after = rows.at(-1)?.number ?? after;
      }
    } finally {
      await handle.close();
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw typeof code === "string" && /^E[A-Z]+$/.test(code)
      ? refused(`Cannot write ${file}: ${code}.`)
      : error;
  }
};
