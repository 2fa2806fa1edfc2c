import { makeTestFolder } from "@durable-payments/tools/testing";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type Ledger, openLedger, readLedgerPlace } from "../../src/index.ts";

/*
 * Workers, metrics, the inbox and the doctor read the ledger every few seconds, for years. A read that goes through all that
 * exists is not noticed in a test of ten payments: it stops a ledger of ten millions. So no plan of such a read may scan a
 * table that grows, but by an index that has only what is open.
 */

/** Tables that grow with each payment. */
const GROWING = /^SCAN (?:writes|runs|log|waits|payees|batches|batch_rows|events)\b/;

/** Indexes that have only what is open, or decisions about the ledger itself. */
const OF_FEW = [
  "writes_open",
  "writes_to_notify",
  "writes_made_at",
  "writes_asks",
  "runs_open",
  "runs_forgotten",
  "waits_open",
  "batches_to_notify",
  "log_limits",
];

const isOfFew = (line: string): boolean => OF_FEW.some((index) => line.endsWith(` ${index}`));

/** A page of what is in the order of its index ends with the page. */
const isPage = (line: string, sql: string): boolean =>
  line.endsWith(" USING INDEX runs_started") && sql.includes(" LIMIT ") && !sql.includes(" WHERE ");

const account = "a";
const limit = 10;
const states = ["sending", "unknown"] as const;

const READS: Readonly<Record<string, (ledger: Ledger) => Promise<unknown>>> = {
  overview: (ledger) => ledger.overview(),
  attention: (ledger) => ledger.attention({ lateAfterMs: 1 }),
  questions: (ledger) => ledger.rows({ needsPerson: true, limit }),
  "files that are open": (ledger) => ledger.batches({ states: ["approved"] }),
  "files to notify": (ledger) => ledger.batches({ mustNotify: true }),
  "runs to notify": (ledger) => ledger.rows({ account, mustNotify: true, limit }),
  "writes of ended runs": (ledger) =>
    ledger.rows({ account, states, isRunEnded: true, changedBefore: 1, limit }),
  "forgotten runs": (ledger) => ledger.forgottenRuns(account, limit),
  "open runs": (ledger) => ledger.openRuns({ limit }),
  "open waits": (ledger) => ledger.waits({ account, isOpen: true, limit }),
  "waits of ended runs": (ledger) => ledger.waits({ account, isOpen: true, isLeft: true, limit }),
  "waits for payouts": (ledger) =>
    ledger.waits({ account, kind: "payout", isOpen: true, things: ["P"] }),
  "due waits": (ledger) =>
    ledger.waits({ account, kind: "balance", isOpen: true, isDue: true, limit }),
  "due payouts": (ledger) => ledger.duePayouts(account, limit),
  "watched payouts": (ledger) => ledger.duePayouts(account, limit, "watched"),
  "a hint": (ledger) => ledger.readSoon([account], "P"),
  "payouts by their ids": (ledger) => ledger.payouts(account, ["P"]),
  "number of what is read again": (ledger) => ledger.countRead(account),
  "statuses that nobody has listed": (ledger) => ledger.sums({ paidSince: 1 }, "word"),
  "open payouts": (ledger) => ledger.openPayouts(account, limit),
  "the latest runs": (ledger) => ledger.listRuns({}, { limit }),
  "the latest failed runs": (ledger) => ledger.listRuns({ statuses: ["failed"] }, { limit }),
  limits: (ledger) => ledger.limitedAccounts(),
  "rows of a batch": (ledger) => ledger.listRows("payouts/1"),
  "counts of a batch": (ledger) => ledger.batchCounts("payouts/1"),
  "groups of failed runs": (ledger) => ledger.failures({}),
  events: (ledger) => ledger.events(account, { limit }),
  "accounts with events": (ledger) => ledger.feeds(),
  "events to deliver": (ledger) => ledger.undelivered("endpoint", account, limit, 1),
  "runs that are overdue": (ledger) => ledger.overdue(1),
  "cardholders and cards": (ledger) => ledger.cardholderWrites(account),
};

/** Of a million open waits, only the few that are meant are read. */
const BY: Readonly<Record<string, string>> = {
  attention: "writes_late (payment_date<?)",
  "waits of ended runs": "waits_left (account=?)",
  "waits for payouts": "waits_for (account=? AND thing=?)",
  "due waits": "waits_due (account=? AND kind=? AND read_after<?)",
  "due payouts": "writes_due (account=? AND read_after<?)",
  "watched payouts": "writes_watched (account=? AND read_after<?)",
  "runs that are overdue": "runs_overdue (started_at<?)",
  "cardholders and cards": "writes_cardholders (account=?)",
};

describe("what is read all the time", () => {
  it.each(Object.entries(READS))("costs what is open, not what exists: %s", async (name, read) => {
    const folder = makeTestFolder();
    onTestFinished(folder.remove);
    const file = join(folder.path, "ledger.sqlite");
    const ledger = await openLedger(readLedgerPlace(`sqlite:${file}`, ""));
    const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
    await read(ledger);
    const statements = new Set(prepare.mock.calls.map(([sql]) => sql));
    prepare.mockRestore();
    await ledger.close();
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    database.function("ledger_now", () => 0);
    database.aggregate("ledger_sum", { start: 0, varargs: true, step: (sum) => sum });
    const planOf = (sql: string) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail));
    const scans = [...statements].flatMap((sql) =>
      planOf(sql)
        .filter((line) => GROWING.test(line) && !isOfFew(line) && !isPage(line, sql))
        .map((line) => `${line}: ${sql}`),
    );
    expect(statements.size).toBeGreaterThan(0);
    expect(scans).toEqual([]);
    expect([...statements].flatMap(planOf).join("\n")).toContain(BY[name] ?? "");
  });
});
