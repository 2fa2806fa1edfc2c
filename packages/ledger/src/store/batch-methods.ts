import type { Batch, BatchRow, BatchRowState, FoundBatchRow } from "./batches.ts";
import type { Ledger } from "./ledger.ts";
import { lastHashOf, LogWriter, selectLastHash } from "./log.ts";
import type { Seal } from "./seal.ts";
import {
  chunks,
  Conditions,
  type Database,
  numberOf,
  query,
  type Query,
  type SqlRow,
  textOf,
  textOrNull,
  tuples,
} from "./sql.ts";

const readBatch = (found: SqlRow, seal: Seal): Batch => ({
  id: textOf(found, "id"),
  account: textOf(found, "account"),
  type: textOf(found, "type"),
  file: textOf(found, "file"),
  fileHash: textOf(found, "file_hash"),
  contentHash: textOf(found, "content_hash"),
  rows: numberOf(found, "rows_in_all"),
  // Only `saveBatch` writes it.
  state: textOf(found, "state") as Batch["state"],
  createdBy: textOf(found, "created_by"),
  createdAt: numberOf(found, "created_at"),
  approvedBy: textOrNull(found, "approved_by"),
  details: seal.open(textOf(found, "details")),
});

const saveBatch = (batch: Batch, seal: Seal): Query =>
  query(
    `INSERT INTO batches (id, account, type, file, file_hash, content_hash, rows_in_all, state, created_by, created_at, approved_by, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (id) DO UPDATE SET file = excluded.file, file_hash = excluded.file_hash,
     content_hash = excluded.content_hash, rows_in_all = excluded.rows_in_all, state = excluded.state,
     approved_by = excluded.approved_by, details = excluded.details`,
    batch.id,
    batch.account,
    batch.type,
    batch.file,
    batch.fileHash,
    batch.contentHash,
    batch.rows,
    batch.state,
    batch.createdBy,
    batch.createdAt,
    batch.approvedBy,
    seal.seal(batch.details),
  );

const sealed = (message: string | null, seal: Seal): string | null =>
  message === null ? null : seal.seal(message);

const saveRows = (batch: string, rows: ReadonlyArray<BatchRow>, seal: Seal): Query => {
  const { sql, values } = tuples(
    rows.map((row) => [
      batch,
      row.number,
      row.workflowId,
      row.fingerprint,
      row.amount,
      row.currency,
      row.reference,
      row.payee,
      row.state,
      sealed(row.message, seal),
    ]),
  );
  return {
    sql: `INSERT INTO batch_rows (batch, number, workflow_id, fingerprint, amount, currency, reference, payee, state, message)
      VALUES ${sql} ON CONFLICT (batch, number) DO UPDATE SET workflow_id = excluded.workflow_id,
      fingerprint = excluded.fingerprint, amount = excluded.amount, currency = excluded.currency,
      reference = excluded.reference, payee = excluded.payee, state = excluded.state, message = excluded.message`,
    values,
  };
};

const readBatchRow = (found: SqlRow, seal: Seal): BatchRow => {
  const message = textOrNull(found, "message");
  return {
    number: numberOf(found, "number"),
    workflowId: textOf(found, "workflow_id"),
    fingerprint: textOf(found, "fingerprint"),
    amount: textOrNull(found, "amount"),
    currency: textOrNull(found, "currency"),
    reference: textOrNull(found, "reference"),
    payee: textOrNull(found, "payee"),
    // Only `saveRows` and `changeRows` write it.
    state: textOf(found, "state") as BatchRowState,
    message: message === null ? null : seal.open(message),
  };
};

/** Files of payments or cardholders, and their rows. */
export const batchMethods = (
  database: Database,
  seal: Seal,
): Pick<
  Ledger,
  | "saveBatch"
  | "saveRows"
  | "changeRows"
  | "batch"
  | "batches"
  | "batchCounts"
  | "batchRows"
  | "rowsWithFingerprints"
> => {
  const { now, sum } = database.dialect;
  const read = async (asked: Query): Promise<ReadonlyArray<SqlRow>> =>
    (await database.read([asked])).flat();
  const selectBatch = (id: string) => query("SELECT * FROM batches WHERE id = $1", id);

  return {
    saveBatch: (id, change) => {
      // Decisions on a batch are chained by themselves.
      const logId = `batch:${id}`;
      // Alone, since the fence of its runs reads its approval.
      return database.write(
        null,
        [query(`SELECT ${now} AS now`), selectBatch(id), selectLastHash(logId)],
        ([[context = {}] = [], batches = [], last = []]) => {
          const at = numberOf(context, "now");
          const [before] = batches.map((found) => readBatch(found, seal));
          const { batch: given, decision } = change(before);
          const batch = { ...given, id, createdAt: before?.createdAt ?? at };
          const log = new LogWriter(logId, lastHashOf(last), at, seal);
          if (decision !== undefined) log.decision({ ...decision, workflowId: logId });
          return { value: batch, writes: [saveBatch(batch, seal), ...log.writes] };
        },
      );
    },
    saveRows: async (batch, rows) => {
      const distinct = [...new Map(rows.map((row) => [row.number, row])).values()];
      if (distinct.length === 0) return;
      await database.write(`batch ${batch}`, [], () => ({
        value: undefined,
        writes: chunks(distinct).map((some) => saveRows(batch, some, seal)),
      }));
    },
    changeRows: (batch, changes) =>
      database.write(`batch ${batch}`, [], () => ({
        value: undefined,
        writes: changes.map(({ message, number, state }) =>
          query(
            "UPDATE batch_rows SET state = $1, message = $2 WHERE batch = $3 AND number = $4",
            state,
            sealed(message, seal),
            batch,
            number,
          ),
        ),
      })),
    batch: async (id) => {
      const [found] = await read(selectBatch(id));
      return found && readBatch(found, seal);
    },
    batches: async () => {
      const found = await read(query("SELECT * FROM batches ORDER BY created_at DESC, id"));
      return found.map((batch) => readBatch(batch, seal));
    },
    batchCounts: async (id) => {
      const found = await read(
        query(
          `SELECT state, currency, count(*) AS rows_found, ${sum("amount")} AS amount FROM batch_rows
           WHERE batch = $1 GROUP BY state, currency ORDER BY state, currency`,
          id,
        ),
      );
      return found.map((count) => ({
        // Only `saveRows` and `changeRows` write it.
        state: textOf(count, "state") as BatchRowState,
        currency: textOrNull(count, "currency"),
        rows: numberOf(count, "rows_found"),
        amount: textOf(count, "amount"),
      }));
    },
    batchRows: async (id, { after, limit, states }) => {
      const found = await read(
        new Conditions()
          .where("batch = ?", id)
          .where("number > ?", after)
          .among("state", states)
          .query("SELECT * FROM batch_rows", "ORDER BY number", limit),
      );
      return found.map((row) => readBatchRow(row, seal));
    },
    rowsWithFingerprints: async (account, fingerprints) => {
      if (fingerprints.length === 0) return [];
      const found = await database.read(
        chunks(fingerprints).map((some) =>
          new Conditions()
            .where("batches.account = ?", account)
            .among("fingerprint", some)
            .query(
              "SELECT batch_rows.* FROM batch_rows JOIN batches ON batches.id = batch_rows.batch",
              "ORDER BY batches.created_at, number",
            ),
        ),
      );
      return found
        .flat()
        .map((row): FoundBatchRow => ({ ...readBatchRow(row, seal), batch: textOf(row, "batch") }));
    },
  };
};
