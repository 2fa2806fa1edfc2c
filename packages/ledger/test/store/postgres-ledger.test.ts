import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { describeAttention } from "../support/attention.ts";
import { describeLedger } from "../support/contract.ts";
import { describeFeed, readFeed } from "../support/feed.ts";
import { describeFailures } from "../support/failures.ts";
import { describeLists } from "../support/lists.ts";
import { Client } from "pg";
import {
  type FeedEvent,
  type LedgerOptions,
  openLedger,
  readLedgerPlace,
} from "../../src/index.ts";
import { describeStatuses } from "../support/statuses.ts";
import { describeMigrations } from "../support/migrations.ts";
import { openAt, startServer, type TestServer } from "../support/postgres.ts";
import { ADA, made, nameOf, runOf, saving, startOf } from "../support/rows.ts";

const missing = whyNoPostgres();

describe("a ledger in PostgreSQL", skippedBecause(missing), () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    await server.create(
      "strange",
      "default_transaction_isolation = serializable",
      "search_path = nowhere",
      "lock_timeout = 1",
      "client_encoding = LATIN1",
      "idle_in_transaction_session_timeout = 1",
    );
  });
  afterAll(() => server.stop());
  const open = (database = "postgres", options: LedgerOptions = {}) =>
    openAt(server.address(database), options);

  // Nothing depends on the settings of a database, which here are not those of a new server.
  describeLedger((options) => open("strange", options));
  describeStatuses(async () => openAt(await server.create("statuses")));
  describeFeed(() => open("strange"));
  describeAttention(async () => {
    await server.create("attention", "search_path = durable_payments");
    const earlier = (table: string, column: string, ms: number) =>
      server.sql("attention", `UPDATE ${table} SET ${column} = ${column} - ${ms}`);
    const skip = async (ms: number) => {
      await earlier("runs", "started_at", ms);
      await earlier("runs", "ended_at", ms);
      await earlier("writes", "outcome_at", ms);
      await earlier("batches", "created_at", ms);
      await earlier("leases", "until", ms);
      await earlier("log", "at", ms);
    };
    return { ledger: await open("attention"), skip };
  });

  let lists = 0;
  describeLists(async () => openAt(await server.create(`listed_${++lists}`)));
  describeFailures(async () => openAt(await server.create("failed")));

  it("is made by one of many workers that start at once", async () => {
    await server.create("many");
    const ledgers = await Promise.all(Array.from({ length: 8 }, () => open("many")));
    const ids = await Promise.all(ledgers.map(async (ledger) => (await ledger.mark()).ledgerId));
    expect(new Set(ids).size).toBe(1);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  });

  it("skips no event of a transaction that commits after a later one, and keeps each payment's order", async () => {
    const address = await server.create("concurrent", "search_path = durable_payments");
    const [ledger, reader] = [await openAt(address), await openAt(address)];
    const record = (id: string) => ledger.recordStart(runOf({ workflowId: id }), startOf());
    const slow = new Client({ connectionString: address });
    await slow.connect();
    await record("first");
    // Its event has the lower sequence, and its transaction stays open.
    await slow.query("BEGIN");
    await slow.query("UPDATE runs SET planned = 'stopped' WHERE workflow_id = 'first'");
    await record("second");
    const before = await readFeed(reader);
    expect(before.map(({ workflowId }) => workflowId)).toEqual(["first", "second"]);
    await slow.query("COMMIT");
    await record("third");
    const after = await readFeed(reader, "account-1", before.at(-1)?.id);
    expect(after.map(({ state, workflowId }) => [workflowId, state])).toEqual([
      ["first", "stopped"],
      ["third", "open"],
    ]);
    // Writers that commit in any order, while readers with cursors go on.
    const writers = Array.from({ length: 4 }, async (_, of) => {
      const own = await openAt(address);
      const mine = Array.from({ length: 40 }, (__, at) => `${of}/${at}`);
      await Promise.all(
        mine.map(async (workflowId) => {
          const name = nameOf({ workflowId });
          await own.recordStart(runOf({ workflowId }), startOf());
          await own.transact(name, saving(name, made(workflowId)));
          const seen = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
          await own.sawPayout("account-1", workflowId, seen);
        }),
      );
      await own.close();
    });
    let isOver = false;
    const readers = [reader, await openAt(address)].map(async (own) => {
      const read: Array<FeedEvent> = [];
      for (let last = false; !last;) {
        last = isOver;
        read.push(...(await readFeed(own, "account-1", read.at(-1)?.id)));
      }
      return read;
    });
    await Promise.all(writers);
    isOver = true;
    const [one, other] = await Promise.all(readers);
    expect(one).toEqual(other);
    const all = Map.groupBy(one ?? [], ({ workflowId }) => workflowId);
    for (let of = 0; of < 4; of++)
      for (let at = 0; at < 40; at++)
        expect(all.get(`${of}/${at}`)?.map(({ state }) => state)).toEqual([
          "open",
          "made",
          "completed",
        ]);
    await slow.end();
    await Promise.all([ledger, reader].map((one) => one.close()));
  });

  it("a wait of another run that begins while the outcome of its payout is recorded is due", async () => {
    const address = await server.create("waits", "search_path = durable_payments");
    const [ledger, other] = [await openAt(address), await openAt(address)];
    await ledger.recordStart(runOf(), startOf());
    await ledger.transact(nameOf(), saving(nameOf(), made("P-1")));
    const slow = new Client({ connectionString: address });
    await slow.connect();
    const blocked = async () => {
      const { rows } = await slow.query<{ count: string }>(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'waits' AND wait_event_type = 'Lock'",
      );
      return Number(rows[0]?.count);
    };
    // The status of its run is recorded last, so everything else is recorded, and not committed.
    await slow.query("BEGIN");
    await slow.query("SELECT FROM runs WHERE workflow_id = 'payout-1' FOR UPDATE");
    const seen = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
    const recorded = ledger.sawPayout("account-1", "P-1", seen);
    await vi.waitFor(async () => expect(await blocked()).toBe(1));
    let isOpen = false;
    const wait = { account: "account-1", workflowId: "other", runId: "r", kind: "payout" } as const;
    const opened = other
      .openWait({ ...wait, activityId: "awaitPayout:P-1", thing: "P-1" })
      .then(() => (isOpen = true));
    await vi.waitFor(async () => expect(isOpen || (await blocked()) === 2).toBe(true));
    await slow.query("COMMIT");
    await Promise.all([recorded, opened]);
    const [found] = await ledger.waits({ account: "account-1", isOpen: true });
    expect(found).toMatchObject({ workflowId: "other", readAfter: expect.any(Number) });
    await slow.end();
    await Promise.all([ledger, other].map((one) => one.close()));
  });

  it("goes on after a restart of the server", async () => {
    await server.create("restarted");
    const ledger = await open("restarted");
    const name = nameOf();
    await ledger.transact(name, saving(name));
    const mark = await ledger.mark();
    await server.restart();
    await ledger.look(name).catch(() => undefined);
    expect((await ledger.look(name)).row?.version).toBe(1);
    expect(await ledger.expect(mark)).toBe(true);
    await ledger.close();
  });

  it("stops where a standby or another server has taken the place of its own", async () => {
    await server.create("replaced");
    const ledger = await open("replaced");
    const mark = await ledger.mark();
    await server.sql("replaced", "UPDATE durable_payments.meta SET server = '7/00000001'");
    expect(await ledger.expect(mark)).toBe(false);
    expect((await ledger.look(nameOf())).stopped).toContain("a standby or backup took its place");
    await ledger.close();
  });

  let places = 0;
  describeMigrations(async () => {
    const name = `migrated_${++places}`;
    const address = await server.create(name, "search_path = durable_payments");
    return {
      open: (options) => openLedger(readLedgerPlace(address, ""), options),
      run: (sql) => server.sql(name, sql),
    };
  });

  it("serves a role that may not create tables, once their owner has migrated them", async () => {
    const address = new URL(await server.create("owned"));
    for (const sql of [
      `CREATE ROLE worker LOGIN PASSWORD '${server.password}'`,
      `CREATE ROLE owner LOGIN PASSWORD '${server.password}'`,
      // As on a server whose administrator makes the schema.
      "REVOKE ALL ON SCHEMA public FROM PUBLIC",
      "CREATE SCHEMA durable_payments AUTHORIZATION owner",
      "GRANT USAGE ON SCHEMA durable_payments TO worker",
      "ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA durable_payments GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO worker",
    ]) {
      await server.sql("owned", sql);
    }
    const as = (role: string) => {
      address.username = role;
      return openAt(address.href);
    };
    await expect(as("worker")).rejects.toThrow(
      /this role lacks a right: .* run ledger migrate as the role that owns them/,
    );
    await (await as("owner")).close();
    const ledger = await as("worker");
    const name = nameOf();
    await ledger.transact(name, saving(name));
    await ledger.prune(Date.now(), ADA);
    expect((await ledger.look(name)).row?.version).toBe(1);
    await ledger.close();
  });

  it("never repeats a password", async () => {
    const wrong = server.address("postgres").replace("tester", "nobody");
    const error: unknown = await openAt(wrong).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/LedgerUnavailable: the ledger's database 127\.0\.0\.1/);
    expect(String(error)).not.toContain(server.password);
  });

  it("serves a user without special rights", async () => {
    await server.sql("postgres", `CREATE ROLE plain LOGIN PASSWORD '${server.password}'`);
    await server.sql("postgres", "CREATE DATABASE plain OWNER plain");
    const ledger = await openAt(server.address("plain").replace("tester", "plain"));
    expect((await ledger.mark()).ledgerId).toMatch(/@\d+\/\d{8}$/);
    await ledger.close();
  });

  it("says how it is copied", async () => {
    const ledger = await open();
    await expect(ledger.backup("copy.dump")).rejects.toThrow(/pg_dump --format=custom/);
    await ledger.close();
  });
});
