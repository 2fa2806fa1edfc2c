import type { Ledger } from "./ledger.ts";
import { BATCH_COUNT, BATCH_ROWS, BATCHES } from "./schema.ts";
import { query } from "./sql.ts";
import type { Store } from "./store.ts";
import { readFields } from "./table.ts";

const saveBatch = BATCHES.saver();
const saveRow = BATCH_ROWS.saver();

/** Files of payments or cardholders, and their rows. */
export const batchMethods = (store: Store) => {
  const { database, seal } = store;
  return {
    saveBatch: (id, change) => {
      // Decisions on a batch are chained by themselves.
      const workflowId = `batch:${id}`;
      const select = query("SELECT * FROM batches WHERE id = $1", id);
      // Alone, since the fence of its runs reads its approval.
      return store.logged(null, workflowId, [select], ([batches = []], log) => {
        const [before] = batches.map((found) => BATCHES.read(found, seal));
        const { batch: given, decision } = change(before);
        const batch = { ...given, id, createdAt: before?.createdAt ?? log.now };
        if (decision !== undefined) log.decision({ ...decision, workflowId });
        return { value: batch, writes: [saveBatch(batch, seal)] };
      });
    },
    saveRows: (batch, rows) =>
      store.save(
        `batch ${batch}`,
        rows.map((row) => saveRow({ ...row, batch }, seal)),
      ),
    changeRows: (batch, changes) =>
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
    batch: async (id) => (await store.all(BATCHES, { "id = ?": id }))[0],
    batches: () => store.all(BATCHES, {}, "ORDER BY created_at DESC, id"),
    batchCounts: async (id) => {
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
    batchRows: (id, { after, limit, states }) =>
      store.all(
        BATCH_ROWS,
        { "batch = ?": id, "number > ?": after, state: states },
        "ORDER BY number",
        limit,
      ),
    rowsWithFingerprints: async (account, fingerprints) => {
      const found = await store.find(
        store.where(
          "SELECT batch_rows.* FROM batch_rows JOIN batches ON batches.id = batch_rows.batch",
          { "batches.account = ?": account, fingerprint: fingerprints },
          "ORDER BY batches.created_at, number",
        ),
      );
      return found.map((row) => BATCH_ROWS.read(row, seal));
    },
  } satisfies Partial<Ledger>;
};
