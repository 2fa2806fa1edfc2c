/*
 * A ledger with as many payouts as a year brings. Its indexes are made after the payouts, as a restore does: one by one, from
 * sorted rows.
 */
import { newRow, openLedger, readLedgerPlace, trackerLease } from "@durable-payments/ledger";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ACCOUNT, copying, DAY_MS, numbersInSqlite, payoutOf, SEED } from "./copied-payouts.ts";
import type { BenchContext } from "./rounds.ts";
import { startPostgres } from "./workflows/world.ts";

/** The payouts copied by one statement. */
const PART = 1_000_000;

/** Settings of a bench that inserts millions of rows, and may lose them. */
const FAST = `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000;`;

/** A ledger's database, as its owner sees it. */
interface Place {
  readonly address: string;
  /** Runs SQL, and returns the first column of its rows. */
  readonly run: (sql: string) => Promise<ReadonlyArray<string>>;
  /** A table of some numbers, as `n`. */
  readonly numbers: (from: number, to: number) => string;
  readonly columnsOf: (table: string) => string;
  /** Selects the statements that make the indexes, and those that drop them. */
  readonly indexes: readonly [make: string, drop: string];
  readonly schema: string;
  /** Selects its size in bytes. */
  readonly size: string;
}

/** A ledger with payouts. */
export interface FilledLedger {
  readonly where: "SQLite" | "PostgreSQL";
  readonly address: string;
  readonly bytes: number;
}

const ID = "'w' || substr(CAST(100000000 + n AS TEXT), 2)";

/**
 * The values of columns that differ between the copies: those of the last day are under way, every hundredth has failed, and
 * the first one is the oldest.
 */
const varied = (payouts: number, days: number): Readonly<Record<string, string>> => {
  const paid = payouts - Math.round(payouts / days);
  const either = (open: string, failed: string, completed: string) =>
    `CASE WHEN n > ${paid} THEN ${open} WHEN n % 100 = 0 THEN ${failed} ELSE ${completed} END`;
  const ago = `CAST(${payouts} - n AS BIGINT) * ${Math.round((days * DAY_MS) / payouts)}`;
  return {
    workflow_id: ID,
    owner_id: ID,
    root_id: ID,
    made_id: `'P' || ${ID}`,
    payee: "'B' || (n % 5000)",
    amount: "(n % 97000) || '.' || (10 + n % 90)",
    currency: "CASE WHEN n % 5 = 0 THEN 'USD' ELSE 'EUR' END",
    payment_date: "NULL",
    standing: either("'made'", "'failed'", "'completed'"),
    read_after: either("read_after", "NULL", "NULL"),
    status: either("'waiting'", "'failed'", "'succeeded'"),
    end_state: either("NULL", "'failed'", "'succeeded'"),
    batch: "'file-' || (n / 1000)",
    created_at: `created_at - ${ago}`,
    changed_at: `changed_at - ${ago}`,
    started_at: `started_at - ${ago}`,
    ended_at: `started_at - ${ago} + 60000`,
  };
};

const fill = async (
  { address, columnsOf, indexes: [make, drop], numbers, run, schema }: Place,
  payouts: number,
  days: number,
  { progress, signal }: BenchContext,
): Promise<void> => {
  const ledger = await openLedger(readLedgerPlace(address, ""));
  const seed = payoutOf(SEED);
  await ledger.recordStart(seed.run, {
    by: "bench",
    how: "bench",
    value: { type: "payout", content: "c" },
  });
  await ledger.transact(seed.name, (look) => ({
    row: {
      ...newRow(look, seed.call),
      state: "done",
      sends: 1,
      firstSentAt: look.now,
      from: look.now,
      madeId: "P",
      result: { payout_id: "P" },
      knownBy: "answer",
    },
  }));
  await ledger.lease(trackerLease(ACCOUNT), "bench", DAY_MS);
  await ledger.close();
  const values = varied(payouts, days);
  const made = await run(make);
  for (const statement of await run(drop)) await run(statement);
  for (const table of ["writes", "runs"]) {
    const columns = await run(columnsOf(table));
    for (let from = 1; from <= payouts; from += PART) {
      signal.throwIfAborted();
      progress(`${table}: ${from - 1} of ${payouts}`);
      const range = numbers(from, Math.min(payouts, from + PART - 1));
      await run(copying(`${schema}${table}`, columns, values, range));
    }
  }
  for (const statement of made) {
    signal.throwIfAborted();
    progress(statement.slice(0, 60));
    await run(statement);
  }
};

/**
 * Makes a ledger of payouts made in some days, in SQLite and then in PostgreSQL if that is installed. Each one is deleted
 * before the next: that may need its room.
 */
export async function* filledLedgers(
  payouts: number,
  days: number,
  context: BenchContext,
): AsyncGenerator<FilledLedger> {
  const folder = makeTestFolder();
  context.defer(folder.remove);
  const file = join(folder.path, "ledger.sqlite");
  const ready = async (where: FilledLedger["where"], place: Place): Promise<FilledLedger> => {
    context.progress(`filling ${where} with ${payouts} payouts`);
    await fill(place, payouts, days, context);
    const [bytes] = await place.run(place.size);
    return { where, address: place.address, bytes: Number(bytes) };
  };
  const ofIndexes = "FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";
  yield ready("SQLite", {
    address: `sqlite:${file}`,
    run: async (sql) => {
      const database = new DatabaseSync(file);
      // The time of the events of the copies.
      database.function("ledger_now", () => Date.now());
      database.exec(FAST);
      const rows = database.prepare(sql).all();
      database.close();
      return rows.map((row) => String(Object.values(row)[0]));
    },
    numbers: numbersInSqlite,
    columnsOf: (table) => `SELECT name FROM pragma_table_info('${table}')`,
    indexes: [`SELECT sql ${ofIndexes}`, `SELECT 'DROP INDEX ' || name ${ofIndexes}`],
    schema: "",
    size: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
  });
  await rm(file);
  const server = await startPostgres(context);
  if (server === undefined) return;
  const ofSchema = "FROM pg_indexes WHERE schemaname = 'durable_payments'";
  const isDropped = "AND indexname NOT LIKE '%_pkey'";
  const filled = await ready("PostgreSQL", {
    address: server.address("postgres"),
    run: async (sql) => (await server.sql("postgres", sql)).split("\n"),
    numbers: (from, to) => `generate_series(${from}, ${to}) AS n`,
    columnsOf: (table) =>
      `SELECT column_name FROM information_schema.columns WHERE table_name = '${table}'`,
    indexes: [
      `SELECT replace(indexdef, chr(10), ' ') ${ofSchema} ${isDropped}`,
      `SELECT 'DROP INDEX durable_payments.' || indexname ${ofSchema} ${isDropped}`,
    ],
    schema: "durable_payments.",
    size: "SELECT pg_database_size('postgres')",
  });
  // As autovacuum does once rows have come.
  await server.sql("postgres", "VACUUM ANALYZE");
  yield filled;
  await server.remove();
}
