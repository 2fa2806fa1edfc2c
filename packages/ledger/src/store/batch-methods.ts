import { batchLogId } from "../model/gate.ts";
import type { BatchRow, BatchRowChange, NewBatch } from "./ledger.ts";
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
        readonly batch: NewBatch;
        readonly decision?: NewDecision;
      },
    ): Promise<Batch> => {
      // Decisions on a batch have a chain of their own.
      const workflowId = batchLogId(id);
      const select = query("SELECT * FROM batches WHERE id = $1", id);
      // Not shared, because the fence of its runs reads its approval.
      return store.logged(null, workflowId, [select], ([batches = []], log) => {
        const [before] = batches.map((found) => BATCHES.read(found, seal));
        const { batch: given, decision } = change(before);
        const { createdAt = log.now, finishedAt = null } = before ?? {};
        const batch = { ...given, id, createdAt, finishedAt };
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
      const claimed = await store.change(
        `batch ${batch}`,
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
      const rejected = await store.change(
        `batch ${batch}`,
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
      await store.change(
        `batch ${id}`,
        query(
          `UPDATE batches SET state = 'finished', finished_at = ${database.dialect.now} WHERE id = $1 AND state = 'approved' AND NOT EXISTS
           (SELECT 1 FROM batch_rows WHERE batch = $1 AND state IN ('waiting', 'started'))`,
          id,
        ),
      );
    },
    /** Records the outcomes of rows, each for itself: a failure does not hold up the other rows. */
    changeRows: async (batch: string, changes: ReadonlyArray<BatchRowChange>): Promise<void> => {
      const all = changes.map(({ message, number, state }) =>
        store.save(`batch ${batch} ${number}`, [
          query(
            "UPDATE batch_rows SET state = $1, message = $2 WHERE batch = $3 AND number = $4",
            state,
            BATCH_ROWS.fields.message.write(message, seal),
            batch,
            number,
          ),
        ]),
      );
      for (const one of await Promise.allSettled(all))
        if (one.status === "rejected") throw one.reason;
    },
    /**
     * Keeps the payee of waiting rows as the service shows it, or `message`: why it cannot be read. With the last payee, the
     * batch waits for its approval.
     */
    keepPayees: (
      batch: string,
      numbers: ReadonlyArray<number>,
      { mark, message = null, shown }: Pick<BatchRow, "mark" | "shown"> & Partial<BatchRow>,
    ): Promise<void> => {
      const { fields } = BATCH_ROWS;
      const texts = [fields.shown.write(shown, seal), fields.message.write(message, seal)];
      const keep =
        "UPDATE batch_rows SET mark = $1, shown = $2, message = $3 WHERE batch = $4 AND number = $5 AND state = 'waiting'";
      const ask = `UPDATE batches SET state = 'needsApproval' WHERE id = $1 AND state = 'reading' AND NOT EXISTS
        (SELECT 1 FROM batch_rows WHERE batch = $1 AND state = 'waiting' AND shown IS NULL)`;
      return store.save(`batch ${batch}`, [
        ...numbers.map((number) => query(keep, mark, ...texts, batch, number)),
        query(ask, batch),
      ]);
    },
    /** Returns the numbers of the rows whose payee has not been paid before, by id or account. */
    newPayees: async ({ account, id }: Pick<Batch, "account" | "id">) => {
      const paid = "paid.account = $2 AND paid.operation = 'createPayout' AND paid.state = 'done'";
      const found = await store.find(
        query(
          `SELECT number FROM batch_rows WHERE batch = $1
           AND NOT EXISTS (SELECT 1 FROM writes paid WHERE ${paid} AND paid.payee = batch_rows.payee)
           AND NOT EXISTS (SELECT 1 FROM writes made JOIN writes paid ON paid.payee = made.made_id AND ${paid}
           WHERE made.account = $2 AND made.operation = 'createBeneficiary' AND made.payee = batch_rows.mark)`,
          id,
          account,
        ),
      );
      return new Set(found.map((row) => Number(row["number"])));
    },
    batch: async (id: string) => (await store.all(BATCHES, { "id = ?": id }))[0],
    /** Returns files that are not finished or rejected, oldest first. Its cost grows with their number, not with their rows. */
    openBatches: async () => {
      const found = await store.find(
        query(
          `SELECT id, account, state, created_at AS since,
           (SELECT min(number) FROM batch_rows WHERE batch = batches.id AND state = 'waiting') AS next
           FROM batches WHERE state IN ('uploading', 'reading', 'needsApproval', 'approved') ORDER BY created_at`,
        ),
      );
      return found.map((batch) => readFields(OPEN_BATCH, batch, seal));
    },
    /** Returns batches, newest first. `finishedWithinMs` is by the ledger's clock. */
    batches: (
      filter: {
        readonly state?: Batch["state"];
        readonly finishedWithinMs?: number;
        readonly limit?: number;
      } = {},
    ) =>
      store.all(
        BATCHES,
        {
          "state = ?": filter.state,
          [`finished_at >= ${database.dialect.now} - ?`]: filter.finishedWithinMs,
        },
        "ORDER BY created_at DESC, id",
        filter.limit,
      ),
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
