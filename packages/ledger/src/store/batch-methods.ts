import type { BatchRow, BatchRowChange } from "./ledger.ts";
import type { NewDecision } from "./log.ts";
import {
  type Batch,
  BATCH_COUNT,
  BATCH_ROWS,
  BATCHES,
  type BatchRowState,
  OPEN_BATCH,
} from "./schema.ts";
import { query, readFields } from "./table.ts";
import type { Store } from "./store.ts";

const saveBatch = BATCHES.saver();
const addRow = BATCH_ROWS.inserter([], undefined, "ON CONFLICT DO NOTHING");

/** Files of payments or cardholders, and their rows. */
export const batchMethods = (store: Store) => {
  const { database, seal } = store;
  return {
    /** Creates or changes a batch in one transaction, and returns it. `change` is pure, and throws to refuse. */
    saveBatch: (
      id: string,
      change: (batch: Batch | undefined) => {
        readonly batch: Batch;
        readonly decision?: NewDecision;
      },
    ): Promise<Batch> => {
      // Decisions on a batch have a chain of their own.
      const workflowId = `batch:${id}`;
      const select = query("SELECT * FROM batches WHERE id = $1", id);
      // Not shared, because the fence of its runs reads its approval.
      return store.logged(null, workflowId, [select], ([batches = []], log) => {
        const [before] = batches.map((found) => BATCHES.read(found, seal));
        const { batch: given, decision } = change(before);
        const batch = { ...given, id, createdAt: before?.createdAt ?? log.now };
        if (decision !== undefined) log.decision({ ...decision, workflowId });
        return { value: batch, writes: [saveBatch(batch, seal)] };
      });
    },
    /** Saves rows of a batch, many at once; existing rows are unchanged. */
    saveRows: (batch: string, rows: ReadonlyArray<BatchRow>) =>
      store.save(
        `batch ${batch}`,
        rows.map((row) => addRow({ ...row, batch }, seal)),
      ),
    /** Marks waiting rows of an approved batch as started, before their start. @returns the marked rows. */
    claimRows: async (batch: string, numbers: ReadonlyArray<number>) => {
      if (numbers.length === 0) return [];
      const claimed = await database.change(
        query(
          // The bounds use the primary key.
          `UPDATE batch_rows SET state = 'started' WHERE batch = $1 AND state = 'waiting'
           AND number BETWEEN $3 AND $4
           AND EXISTS (SELECT 1 FROM batches WHERE id = $1 AND batches.state = 'approved')
           AND ${database.dialect.among("CAST(number AS TEXT)", "$2")} RETURNING number`,
          batch,
          JSON.stringify(numbers.map(String)),
          Math.min(...numbers),
          Math.max(...numbers),
        ),
      );
      return claimed.map((row) => Number(row["number"])).toSorted((one, next) => one - next);
    },
    /** Rejects all waiting rows. @returns their number. */
    rejectRows: async (batch: string, message: string) => {
      const rejected = await database.change(
        query(
          "UPDATE batch_rows SET state = 'rejected', message = $1 WHERE batch = $2 AND state = 'waiting' RETURNING number",
          BATCH_ROWS.fields.message.write(message, seal),
          batch,
        ),
      );
      return rejected.length;
    },
    /** Finishes an approved batch without waiting or started rows. */
    finishBatch: async (id: string) => {
      await database.change(
        query(
          `UPDATE batches SET state = 'finished' WHERE id = $1 AND state = 'approved' AND NOT EXISTS
           (SELECT 1 FROM batch_rows WHERE batch = $1 AND state IN ('waiting', 'started'))`,
          id,
        ),
      );
    },
    changeRows: (batch: string, changes: ReadonlyArray<BatchRowChange>) =>
      store.save(
        `batch ${batch}`,
        changes.map(({ message, number, state }) =>
          query(
            "UPDATE batch_rows SET state = $1, message = $2 WHERE batch = $3 AND number = $4",
            state,
            BATCH_ROWS.fields.message.write(message, seal),
            batch,
            number,
          ),
        ),
      ),
    batch: async (id: string) => (await store.all(BATCHES, { "id = ?": id }))[0],
    /** Returns all batches, newest first. */
    batches: () => store.all(BATCHES, {}, "ORDER BY created_at DESC, id"),
    /** Returns files that are not finished or rejected, oldest first. Its cost grows with their number, not with their rows. */
    openBatches: async () => {
      const found = await store.find(
        query(
          `SELECT id, account, state, created_at AS since,
           (SELECT min(number) FROM batch_rows WHERE batch = batches.id AND state = 'waiting') AS next
           FROM batches WHERE state IN ('uploading', 'needsApproval', 'approved') ORDER BY created_at`,
        ),
      );
      return found.map((batch) => readFields(OPEN_BATCH, batch, seal));
    },
    batchCounts: async (id: string) => {
      const sum = database.dialect.sum("amount");
      const found = await store.find(
        query(
          `SELECT state, currency, count(*) AS rows, ${sum} AS amount FROM batch_rows
           WHERE batch = $1 GROUP BY state, currency ORDER BY state, currency`,
          id,
        ),
      );
      return found.map((count) => readFields(BATCH_COUNT, count, seal));
    },
    /** Returns the rows of a batch after a number, in order. */
    batchRows: (
      id: string,
      filter: {
        readonly states?: ReadonlyArray<BatchRowState>;
        readonly after?: number;
        readonly limit: number;
      },
    ) =>
      store.all(
        BATCH_ROWS,
        { "batch = ?": id, "number > ?": filter.after, state: filter.states },
        "ORDER BY number",
        filter.limit,
      ),
    /** Returns rows of any batch of the account with one of these fingerprints. */
    rowsWithFingerprints: async (account: string, fingerprints: ReadonlyArray<string>) => {
      const found = await store.find(
        store.where(
          "SELECT batch_rows.* FROM batch_rows JOIN batches ON batches.id = batch_rows.batch",
          { "batches.account = ?": account, fingerprint: fingerprints },
          "ORDER BY batches.created_at, number",
        ),
      );
      return found.map((row) => BATCH_ROWS.read(row, seal));
    },
  };
};
