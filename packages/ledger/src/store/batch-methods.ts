import type { Ledger } from "./ledger.ts";
import { lastHashOf, LogWriter, selectLastHash } from "./log.ts";
import { BATCH_ROWS, BATCHES } from "./schema.ts";
import type { Seal } from "./seal.ts";
import { chunks, Conditions, type Database, query, type Query, type SqlRow } from "./sql.ts";
import { number, readFields, text } from "./table.ts";

const { currency, message: MESSAGE, state } = BATCH_ROWS.fields;
const COUNT = { state, currency, rows: number, amount: text };

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
          const at = Number(context["now"]);
          const [before] = batches.map((found) => BATCHES.read(found, seal));
          const { batch: given, decision } = change(before);
          const batch = { ...given, id, createdAt: before?.createdAt ?? at };
          const log = new LogWriter(logId, lastHashOf(last), at, seal);
          if (decision !== undefined) log.decision({ ...decision, workflowId: logId });
          return { value: batch, writes: [BATCHES.save([batch], seal), ...log.writes] };
        },
      );
    },
    saveRows: async (batch, rows) => {
      const distinct = [...new Map(rows.map((row) => [row.number, row])).values()];
      if (distinct.length === 0) return;
      await database.write(`batch ${batch}`, [], () => ({
        value: undefined,
        writes: chunks(distinct).map((some) =>
          BATCH_ROWS.save(
            some.map((row) => ({ ...row, batch })),
            seal,
          ),
        ),
      }));
    },
    changeRows: (batch, changes) =>
      database.write(`batch ${batch}`, [], () => ({
        value: undefined,
        writes: changes.map(({ message, number, state }) =>
          query(
            "UPDATE batch_rows SET state = $1, message = $2 WHERE batch = $3 AND number = $4",
            state,
            MESSAGE.write(message, seal),
            batch,
            number,
          ),
        ),
      })),
    batch: async (id) => {
      const [found] = await read(selectBatch(id));
      return found && BATCHES.read(found, seal);
    },
    batches: async () => {
      const found = await read(query("SELECT * FROM batches ORDER BY created_at DESC, id"));
      return found.map((batch) => BATCHES.read(batch, seal));
    },
    batchCounts: async (id) => {
      const found = await read(
        query(
          `SELECT state, currency, count(*) AS rows, ${sum("amount")} AS amount FROM batch_rows
           WHERE batch = $1 GROUP BY state, currency ORDER BY state, currency`,
          id,
        ),
      );
      return found.map((count) => readFields(COUNT, count, seal));
    },
    batchRows: async (id, { after, limit, states }) => {
      const found = await read(
        new Conditions()
          .where("batch = ?", id)
          .where("number > ?", after)
          .among("state", states)
          .query("SELECT * FROM batch_rows", "ORDER BY number", limit),
      );
      return found.map((row) => BATCH_ROWS.read(row, seal));
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
      return found.flat().map((row) => BATCH_ROWS.read(row, seal));
    },
  };
};
