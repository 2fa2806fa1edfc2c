import { newRow, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import * as postgres from "@durable-payments/tools/postgres";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type BenchContext, interleave } from "./rounds.ts";
import type { Row } from "./row.ts";

/*
 * The cost of a list and a report in a ledger of a million payouts. One payout is made by the ledger's own methods, and copied
 * by SQL. The baseline is the promised time, so a ratio of at most 1 keeps the promise.
 */

const DAY_MS = 86_400_000;

/** Runs SQL, and returns the first column of the last statement. */
type Run = (sql: string) => Promise<ReadonlyArray<string>>;

interface Place {
  readonly address: string;
  readonly run: Run;
  /** A table of the numbers from 1, as `n`. */
  readonly numbers: string;
  readonly columnsOf: (table: string) => string;
  readonly schema: string;
}

/** The values of columns that differ between the copies; every hundredth payout is under way, and another failed. */
const VARIED: Readonly<Record<string, string>> = {
  workflow_id: "'w' || n",
  owner_id: "'w' || n",
  root_id: "'w' || n",
  made_id: "'P' || n",
  payee: "'B' || (n % 5000)",
  amount: "(n % 97000) || '.' || (10 + n % 90)",
  currency: "CASE WHEN n % 5 = 0 THEN 'USD' ELSE 'EUR' END",
  standing: "CASE n % 100 WHEN 0 THEN 'failed' WHEN 1 THEN 'made' ELSE 'completed' END",
  status: "CASE n % 100 WHEN 0 THEN 'failed' WHEN 1 THEN 'waiting' ELSE 'succeeded' END",
  batch: "'file-' || (n / 1000)",
};

const fill = async ({ address, columnsOf, numbers, run, schema }: Place): Promise<void> => {
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
  await ledger.close();
  for (const table of ["writes", "runs"]) {
    const columns = await run(columnsOf(table));
    const values = columns.map((column) =>
      column === "created_at" || column === "started_at"
        ? `${column} - CAST(n AS BIGINT) * ${Math.round((60 * DAY_MS) / 1_000_000)}`
        : (VARIED[column] ?? column),
    );
    await run(
      `INSERT INTO ${schema}${table} (${columns.join(", ")})
       SELECT ${values.join(", ")} FROM ${numbers}, ${schema}${table} WHERE workflow_id = 'seed'`,
    );
  }
};

const measures = async (
  where: string,
  address: string,
  rounds: number,
  context: BenchContext,
): Promise<ReadonlyArray<Row>> => {
  const ledger = await openLedger(readLedgerPlace(address, ""));
  context.defer(() => ledger.close());
  const timed = (work: () => Promise<unknown>) => async () => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const page = { limit: 50 };
  const pages = {
    "list, first page": () => ledger.listRuns({}, page),
    "list --status failed, first page": () => ledger.listRuns({ statuses: ["failed"] }, page),
    "list --payee, first page": () => ledger.listRuns({ payees: ["B7"] }, page),
    "list --currency, first page": () => ledger.listRuns({ currency: "USD" }, page),
  };
  const reports = {
    report: () => ledger.sums({ paidSince: 0 }),
    "report --by payee": () => ledger.sums({ paidSince: 0 }, "payee"),
    "report --by day": () => ledger.sums({ paidSince: 0 }, "day"),
    "report --by batch": () => ledger.sums({ paidSince: 0 }, "batch"),
    "report of a week": () => ledger.sums({ paidSince: Date.now() - 7 * DAY_MS }),
  };
  const all = Object.entries({ ...pages, ...reports }).map(
    ([name, work]) => [name, timed(work)] as const,
  );
  const readings = await interleave(Object.fromEntries(all), rounds, context);
  return Object.entries(readings).map(([name, ours]) => ({
    name: `${name}, ${where}`,
    unit: "ms; the baseline is the promise",
    ours,
    baseline: ours.map(() => (name in pages ? 100 : 2_000)),
    target: { atMost: 1 },
  }));
};

/** Lists and reports of a million payouts, in SQLite and in PostgreSQL if that is installed. */
export const measureLists = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  const [payouts, rounds] = context.quick ? [10_000, 2] : [1_000_000, 7];
  const folder = makeTestFolder();
  context.defer(folder.remove);
  const file = join(folder.path, "ledger.sqlite");
  context.progress(`filling SQLite with ${payouts} payouts`);
  await fill({
    address: `sqlite:${file}`,
    run: async (sql) => {
      const database = new DatabaseSync(file);
      database.exec("PRAGMA synchronous = OFF");
      const rows = database.prepare(sql).all();
      database.close();
      return rows.map((row) => String(Object.values(row)[0]));
    },
    numbers: `(WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < ${payouts}) SELECT n FROM g)`,
    columnsOf: (table) => `SELECT name FROM pragma_table_info('${table}')`,
    schema: "",
  });
  const rows = [...(await measures("SQLite", `sqlite:${file}`, rounds, context))];
  const missing = postgres.whyNoPostgres();
  if (missing !== undefined) {
    context.progress(`without PostgreSQL: ${missing}`);
    return rows;
  }
  const server = await postgres.startPostgres(folder.path);
  context.defer(() => server.stop());
  context.progress(`filling PostgreSQL with ${payouts} payouts`);
  const address = server.address("postgres");
  await fill({
    address,
    run: async (sql) => (await server.sql("postgres", sql)).split("\n"),
    numbers: `generate_series(1, ${payouts}) AS n`,
    columnsOf: (table) =>
      `SELECT column_name FROM information_schema.columns WHERE table_name = '${table}'`,
    schema: "durable_payments.",
  });
  // As autovacuum does once rows have come.
  await server.sql("postgres", "VACUUM ANALYZE");
  rows.push(...(await measures("PostgreSQL", address, rounds, context)));
  return rows;
};
