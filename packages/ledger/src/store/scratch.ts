/*
 * A scratch ledger: a copy in memory of what a ledger has about some workflow ids, in which a preview may do as it likes.
 *
 * The original is only read. Rows are copied as they are stored, so sealed texts stay sealed, and a new column is copied
 * without a line here. Ids are copied when they are first asked for: a run finds out as it runs which children and keys it
 * has. Pauses are left out: they delay, and decide nothing. Each id costs eight reads by index.
 */
import { openSqlite } from "./sqlite-database.ts";
import { batchLogId } from "../model/gate.ts";
import { limitsId } from "../model/limits.ts";
import { Store } from "./store.ts";
import { type Query, query, type SqlRow } from "./table.ts";
import { wordsId } from "./word-methods.ts";
import { rowsOf } from "./write-rows.ts";

/** Later than every line of the original: its decisions stay older than those of the preview. */
const LINES_AFTER = 1_000_000_000_000;

const inserted = (table: string, row: SqlRow): Query => {
  const columns = Object.keys(row);
  const places = columns.map((_, at) => `$${at + 1}`);
  return query(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places.join(", ")}) ON CONFLICT DO NOTHING`,
    ...Object.values(row),
  );
};

/**
 * Opens a scratch store.
 *
 * @param original is only read.
 * @param clock of the preview, in milliseconds since 1970.
 * @returns the store, and the function that copies a workflow id to it, once.
 */
export const openScratchStore = async (original: Store, clock: () => number) => {
  const scratch = new Store(openSqlite(":memory:", { clock }), original.seal);
  const copied = new Map<string, Promise<void>>();
  const copy = async (table: string, asked: Query): Promise<ReadonlyArray<SqlRow>> => {
    const found = await original.find(asked);
    await scratch.save(
      null,
      found.map((row) => inserted(table, row)),
    );
    return found;
  };
  const of = (table: string, column: string, id: string) =>
    copy(table, query(`SELECT * FROM ${table} WHERE ${column} = $1`, id));
  const copyId = async (id: string): Promise<void> => {
    const writes = await copy("writes", rowsOf(id));
    const ids = new Set([id, ...writes.map((row) => String(row["workflow_id"]))]);
    const accounts = new Set(writes.map((row) => String(row["account"])));
    for (const one of ids) {
      await of("log", "workflow_id", one);
      await of("waits", "workflow_id", one);
      await of("batch_rows", "workflow_id", one);
      for (const { account, batch } of await of("runs", "workflow_id", one)) {
        if (account) accounts.add(String(account));
        if (batch) await of("batches", "id", String(batch));
        if (batch) await of("log", "workflow_id", batchLogId(String(batch)));
      }
    }
    for (const account of accounts)
      for (const about of [limitsId(account), wordsId(account)]) await bring(about);
  };
  const bring = (id: string): Promise<void> => {
    const known = copied.get(id) ?? copyId(id);
    copied.set(id, known);
    return known;
  };
  const [meta = {}] = await original.find(query("SELECT * FROM meta"));
  const own = { ledger_id: "scratch", server: "", former: "[]", suspects: "[]", stopped: null };
  const last = { sequence: LINES_AFTER, at: 0, account: "", workflow_id: own.ledger_id };
  await scratch.save(null, [
    inserted("meta", { ...meta, ...own }),
    inserted("log", { ...last, kind: "", body: "", hash: "" }),
  ]);
  // When the ledger was recovered is a decision on everything.
  await of("log", "workflow_id", "");
  return { scratch, bring };
};
