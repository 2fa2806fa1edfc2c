import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLedger, readLedgerPlace } from "../../src/index.ts";
import { measureSize } from "../support/payout-size.ts";
import { startServer } from "../support/postgres.ts";
import { made, nameOf, runOf, saving, startOf } from "../support/rows.ts";

/*
 * What a ledger with a million payouts costs. Every promise here is a time, and the limits are wide: the night's machine
 * is slow. Figures are printed.
 */

const PAYOUTS = Number(process.env["PAYOUTS"] ?? 1_000_000);

/** Longest that a send may wait while a prune runs, and longest overview: promised are 100 and 50 ms. */
const MOST_SEND_MS = 1_000;
const MOST_OVERVIEW_MS = 500;

/** Runs SQL on the ledger's database. Returns its first column, a line each. */
type Run = (sql: string) => Promise<string>;

/** Puts one payout with its run into a ledger, and copies it by SQL. */
const fill = async (
  address: string,
  run: Run,
  numbers: string,
  columnsOf: (table: string) => string,
  schema = "",
): Promise<void> => {
  // What is under way or watched is not pruned.
  const ledger = await openLedger(readLedgerPlace(address, ""), { watchedForMs: 0 });
  const name = nameOf({ workflowId: "seed" });
  await ledger.recordStart(runOf({ workflowId: "seed" }), startOf());
  await ledger.transact(name, saving(name));
  await ledger.transact(name, saving(name, made("P-seed")));
  const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
  await ledger.sawPayout(name.account, "P-seed", seen);
  await ledger.close();
  // Not the log: a line of another id does not follow from the line before it, and what was edited is not pruned.
  for (const name of ["writes", "runs"]) {
    const table = schema + name;
    const all = (await run(columnsOf(name))).split("\n");
    const columns = all.filter((column) => column !== "sequence");
    const values = columns.map((column) =>
      column === "workflow_id"
        ? "'w' || n"
        : column === "made_id"
          ? "'P' || n"
          : column === "payee"
            ? "'B' || (n % 5000)"
            : column,
    );
    await run(
      `INSERT INTO ${table} (${columns.join(", ")})
       SELECT ${values.join(", ")} FROM ${numbers}, ${table} WHERE workflow_id = 'seed'`,
    );
  }
};

/** The median, 99th percentile and longest of some times, in milliseconds. */
const spread = (times: ReadonlyArray<number>) => {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return { count: times.length, median: at(0.5), p99: at(0.99), longest: at(1) };
};

/** Prunes in another process, and meanwhile sends up to 25 times a second and looks as a scrape does. */
const measure = async (address: string) => {
  const ledger = await openLedger(readLedgerPlace(address, ""));
  onTestFinished(() => ledger.close());
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  let count = 0;
  const sendWhile = async (isToGoOn: (sent: number) => boolean) => {
    const sends: Array<number> = [];
    const overviews: Array<number> = [];
    while (isToGoOn(sends.length)) {
      const name = nameOf({ workflowId: `live-${++count}` });
      sends.push(await timed(() => ledger.transact(name, saving(name))));
      if (sends.length % 25 === 0) overviews.push(await timed(() => ledger.overview()));
      await sleep(40);
    }
    return { sends: spread(sends), overviews: spread(overviews) };
  };
  const before = await sendWhile((sent) => sent < 250);
  const child = fork(new URL("../support/prune-process.ts", import.meta.url), [address], {
    execArgv: ["--conditions=@durable-payments/source"],
  });
  const begun = performance.now();
  const answer = once(child, "message");
  const during = await sendWhile(() => child.exitCode === null && child.signalCode === null);
  const seconds = Math.round((performance.now() - begun) / 1000);
  const [pruned] = await answer;
  return { before, during, seconds, pruned };
};

const expectInTime = (figures: Awaited<ReturnType<typeof measure>>): void => {
  console.log(JSON.stringify(figures));
  expect(figures.pruned).toBe(PAYOUTS + 1);
  expect(figures.during.sends.longest).toBeLessThan(MOST_SEND_MS);
  expect(figures.during.overviews.longest).toBeLessThan(MOST_OVERVIEW_MS);
};

/** Bytes of a payout before and after a prune: docs/retention.md has some less. */
const MOST_BYTES = { made: 6_000, pruned: 3_000 };

const expectSmall = (size: Awaited<ReturnType<typeof measureSize>>): void => {
  console.log(JSON.stringify(size));
  expect(size.made).toBeLessThan(MOST_BYTES.made);
  expect(size.pruned).toBeLessThan(MOST_BYTES.pruned);
};

describe("a payout takes some kilobytes", { timeout: 600_000 }, () => {
  it("in a SQLite file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ledger-size-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "ledger.sqlite");
    const sizeOf = async () => {
      using database = new DatabaseSync(file);
      database.exec("VACUUM");
      return statSync(file).size;
    };
    expectSmall(await measureSize(`sqlite:${file}`, sizeOf));
  });

  it("in PostgreSQL", skippedBecause(whyNoPostgres()), async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const sizeOf = async () => {
      await server.sql("postgres", "VACUUM FULL");
      return Number(await server.sql("postgres", "SELECT pg_database_size('postgres')"));
    };
    expectSmall(await measureSize(server.address("postgres"), sizeOf));
  });
});

describe(
  `a ledger with ${PAYOUTS} payouts is pruned, and delays no send`,
  { timeout: 3_600_000 },
  () => {
    it("in a SQLite file", async () => {
      const folder = mkdtempSync(join(tmpdir(), "ledger-size-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, "ledger.sqlite");
      const run: Run = async (sql) => {
        const database = new DatabaseSync(file);
        database.exec("PRAGMA synchronous = OFF");
        // The time of the events of the copies.
        database.function("ledger_now", () => Date.now());
        const rows = database.prepare(sql).all();
        database.close();
        return rows.map((row) => String(Object.values(row)[0])).join("\n");
      };
      const numbers = `(WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < ${PAYOUTS}) SELECT n FROM g)`;
      await fill(
        `sqlite:${file}`,
        run,
        numbers,
        (table) => `SELECT name FROM pragma_table_info('${table}')`,
      );
      expectInTime(await measure(`sqlite:${file}`));
    });

    it("in PostgreSQL", skippedBecause(whyNoPostgres()), async () => {
      const server = await startServer();
      onTestFinished(() => server.stop());
      const run: Run = (sql) => server.sql("postgres", sql);
      const numbers = `generate_series(1, ${PAYOUTS}) AS n`;
      await fill(
        server.address("postgres"),
        run,
        numbers,
        (table) =>
          `SELECT column_name FROM information_schema.columns WHERE table_name = '${table}'`,
        "durable_payments.",
      );
      await server.sql("postgres", "ANALYZE");
      expectInTime(await measure(server.address("postgres")));
    });
  },
);
