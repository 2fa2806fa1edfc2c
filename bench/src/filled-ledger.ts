/*
 * A ledger with as many payouts as a year brings. Making each of them by the ledger would take days, so one payout is made by
 * the ledger's own methods, and copied by SQL. Its indexes are made afterwards, as a restore does: one by one, from sorted rows.
 */
import { newRow, openLedger, readLedgerPlace, trackerLease } from "@durable-payments/ledger";
import * as postgres from "@durable-payments/tools/postgres";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { BenchContext } from "./rounds.ts";

export const DAY_MS = 86_400_000;

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
  /** Deletes it: the next one may need its room. */
  readonly remove: () => Promise<void>;
}

const ID = "'w' || substr(CAST(100000000 + n AS TEXT), 2)";

/** The values of columns that differ between the copies: those of the last day are under way, every hundredth has failed. */
const varied = (paid: number): Readonly<Record<string, string>> => {
  const either = (open: string, failed: string, completed: string) =>
    `CASE WHEN n > ${paid} THEN ${open} WHEN n % 100 = 0 THEN ${failed} ELSE ${completed} END`;
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
  };
};

/** Times of a payout: the first one is the oldest. */
const TIMES: ReadonlyArray<string> = ["created_at", "changed_at", "started_at"];

const fill = async (
  { address, columnsOf, indexes: [make, drop], numbers, run, schema }: Place,
  payouts: number,
  days: number,
  { progress, signal }: BenchContext,
): Promise<void> => {
  const ledger = await openLedger(readLedgerPlace(address, ""));
  const name = { account: "a", workflowId: "seed", step: "createPayout" };
  const payment = { amount: "1.00", currency: "EUR", payee: "B", reference: "Invoice" };
  const of = { account: "a", workflowId: "seed", runId: "r", type: "payout", batchRow: null };
  await ledger.recordStart(
    { ...of, ...payment, batch: null },
    { by: "bench", how: "bench", value: { type: "payout", content: "c" } },
  );
  const request = { ...payment, hash: "h", terms: "t", paymentDate: "2026-11-20", facts: {} };
  const ids = { ownerId: "seed", rootId: "seed", runId: "r" };
  const call = { ...ids, name, operation: "createPayout", request };
  await ledger.transact(name, (look) => ({
    row: {
      ...newRow(look, call),
      state: "done",
      sends: 1,
      firstSentAt: look.now,
      from: look.now,
      madeId: "P",
      result: { payout_id: "P" },
      knownBy: "answer",
    },
  }));
  await ledger.lease(trackerLease("a"), "bench", DAY_MS);
  await ledger.close();
  const ofColumn = varied(payouts - Math.round(payouts / days));
  const ago = `CAST(${payouts} - n AS BIGINT) * ${Math.round((days * DAY_MS) / payouts)}`;
  const made = await run(make);
  for (const statement of await run(drop)) await run(statement);
  for (const table of ["writes", "runs"]) {
    const columns = await run(columnsOf(table));
    const values = columns.map((column) =>
      TIMES.includes(column)
        ? `${column} - ${ago}`
        : column === "ended_at"
          ? `started_at - ${ago} + 60000`
          : (ofColumn[column] ?? column),
    );
    for (let from = 1; from <= payouts; from += PART) {
      signal.throwIfAborted();
      progress(`${table}: ${from - 1} of ${payouts}`);
      await run(
        `INSERT INTO ${schema}${table} (${columns.join(", ")})
         SELECT ${values.join(", ")} FROM ${numbers(from, Math.min(payouts, from + PART - 1))}, ${schema}${table} WHERE workflow_id = 'seed'`,
      );
    }
  }
  for (const statement of made) {
    signal.throwIfAborted();
    progress(statement.slice(0, 60));
    await run(statement);
  }
};

/** Makes a ledger of payouts made in some days, in SQLite and then in PostgreSQL if that is installed. */
export async function* filledLedgers(
  payouts: number,
  days: number,
  context: BenchContext,
): AsyncGenerator<FilledLedger> {
  const folder = makeTestFolder();
  context.defer(folder.remove);
  const file = join(folder.path, "ledger.sqlite");
  const ready = async (where: FilledLedger["where"], place: Place, remove: () => Promise<void>) => {
    context.progress(`filling ${where} with ${payouts} payouts`);
    await fill(place, payouts, days, context);
    const [bytes] = await place.run(place.size);
    return { where, address: place.address, bytes: Number(bytes), remove };
  };
  const ofIndexes = "FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";
  const sqlite = {
    address: `sqlite:${file}`,
    run: async (sql: string) => {
      const database = new DatabaseSync(file);
      // The time of the events of the copies.
      database.function("ledger_now", () => Date.now());
      database.exec(FAST);
      const rows = database.prepare(sql).all();
      database.close();
      return rows.map((row) => String(Object.values(row)[0]));
    },
    numbers: (from: number, to: number) =>
      `(WITH RECURSIVE g(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM g WHERE n < ${to}) SELECT n FROM g)`,
    columnsOf: (table: string) => `SELECT name FROM pragma_table_info('${table}')`,
    indexes: [`SELECT sql ${ofIndexes}`, `SELECT 'DROP INDEX ' || name ${ofIndexes}`],
    schema: "",
    size: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
  } as const;
  yield ready("SQLite", sqlite, () => rm(file));
  const missing = postgres.whyNoPostgres();
  if (missing !== undefined) return context.progress(`without PostgreSQL: ${missing}`);
  const other = makeTestFolder();
  context.defer(other.remove);
  const server = await postgres.startPostgres(other.path);
  // It may be stopped already.
  context.defer(() => server.stop().catch(() => undefined));
  const ofSchema = "FROM pg_indexes WHERE schemaname = 'durable_payments'";
  const isDropped = "AND indexname NOT LIKE '%_pkey'";
  const place = {
    address: server.address("postgres"),
    run: async (sql: string) => (await server.sql("postgres", sql)).split("\n"),
    numbers: (from: number, to: number) => `generate_series(${from}, ${to}) AS n`,
    columnsOf: (table: string) =>
      `SELECT column_name FROM information_schema.columns WHERE table_name = '${table}'`,
    indexes: [
      `SELECT replace(indexdef, chr(10), ' ') ${ofSchema} ${isDropped}`,
      `SELECT 'DROP INDEX durable_payments.' || indexname ${ofSchema} ${isDropped}`,
    ],
    schema: "durable_payments.",
    size: "SELECT pg_database_size('postgres')",
  } as const;
  const filled = await ready("PostgreSQL", place, async () => {
    await server.stop();
    await rm(join(other.path, "postgres"), { recursive: true });
  });
  // As autovacuum does once rows have come.
  await server.sql("postgres", "VACUUM ANALYZE");
  yield filled;
}
