/*
 * Payouts by the million. Making each of them by the ledger would take days, so one is made by the ledger's own methods, and
 * copied by SQL.
 */

export const ACCOUNT = "a";

export const DAY_MS = 86_400_000;

/** The workflow id of the payout that is copied. */
export const SEED = "seed";

/** A payout as the ledger takes it: its run, and its write. */
export const payoutOf = (workflowId: string) => {
  const name = { account: ACCOUNT, workflowId, step: "createPayout" };
  const payment = { amount: "1.00", currency: "EUR", payee: "B7", reference: "Invoice" };
  const noFile = { batch: null, batchRow: null };
  const ids = { ownerId: workflowId, rootId: workflowId, runId: "r" };
  const terms = { hash: workflowId, terms: "t", paymentDate: "2026-11-20", facts: {} };
  return {
    run: { account: ACCOUNT, workflowId, runId: "r", type: "payout", ...payment, ...noFile },
    call: { ...ids, name, operation: "createPayout", request: { ...payment, ...terms } },
    name,
  };
};

/** Selects the numbers of a range as `n`, in SQLite. */
export const numbersInSqlite = (from: number, to: number): string =>
  `(WITH RECURSIVE g(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM g WHERE n < ${to}) SELECT n FROM g)`;

/**
 * Returns SQL that copies the rows of the seed in a table, once for each `n`.
 *
 * @param varied the values of columns that differ between the copies, as expressions of `n`
 */
export const copying = (
  table: string,
  columns: ReadonlyArray<string>,
  varied: Readonly<Record<string, string>>,
  numbers: string,
): string =>
  `INSERT INTO ${table} (${columns.join(", ")})
   SELECT ${columns.map((column) => varied[column] ?? column).join(", ")}
   FROM ${numbers}, ${table} WHERE workflow_id = '${SEED}'`;
