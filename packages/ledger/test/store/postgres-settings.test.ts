import { BreakingProxy } from "@durable-payments/tools/breaking-proxy";
import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Ledger } from "../../src/index.ts";
import { startPgBouncer, whyNoPgBouncer } from "../support/pgbouncer.ts";
import { openAt, startServer, type TestServer } from "../support/postgres.ts";
import { ADA, decisionOf, nameOf, runOf, saving, startOf } from "../support/rows.ts";

// What a ledger assumes of PostgreSQL is set by the ledger, or refused by name: nothing here is what a server has by default.
describe("the settings of PostgreSQL", skippedBecause(whyNoPostgres()), () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());
  const open = async (address: string): Promise<Ledger> => {
    const ledger = await openAt(address);
    onTestFinished(() => ledger.close());
    return ledger;
  };
  /** Polls until a backend has, or waits for, the lock of the whole ledger. */
  const untilLocked = async (database: string, granted: boolean): Promise<void> => {
    const mode = granted ? "ExclusiveLock" : "ShareLock";
    const locks = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode LIKE '%${mode}' AND granted = ${granted}`;
    await expect.poll(() => server.sql(database, locks), { timeout: 60_000 }).not.toBe("0");
  };

  it.each(["repeatable read", "serializable"])(
    "with %s as default: a look that waited for a lock sees the pause and the end that were committed before",
    async (isolation) => {
      const database = isolation.replace(" ", "_");
      const address = await server.create(
        database,
        `default_transaction_isolation = '${isolation}'`,
      );
      const proxy = await BreakingProxy.start(server.port);
      onTestFinished(() => proxy.stop());
      const [person, worker] = [await open(proxy.through(address)), await open(address)];
      const name = nameOf({ workflowId: "waited" });
      proxy.commitDelayMs = 1_500;
      const pausing = person.pause("all", "", ADA);
      await untilLocked(database, true);
      const waited = worker.transact(name, () => ({}));
      await untilLocked(database, false);
      const [look] = await Promise.all([waited, pausing]);
      expect(look.pause).toMatchObject({ by: "ada", scope: "all" });

      const other = nameOf({ workflowId: "ended" });
      const ending = person.decide(decisionOf({ workflowId: other.workflowId }));
      await untilLocked(database, true);
      const [second] = await Promise.all([worker.transact(other, () => ({})), ending]);
      expect(second.end?.by).toBe("ada");
    },
  );

  it.each([
    ["default_transaction_read_only = on", /transaction_read_only is on\); it is read-only/],
    ["synchronous_commit = off", /synchronous_commit is off: turn it on/],
  ])("refuses %s", async (setting, words) => {
    const address = await server.create(`refused_${words.source.length}`, setting);
    await expect(openAt(address)).rejects.toThrow(words);
  });

  it("refuses another encoding than UTF8, and a server without fsync", async () => {
    await server.sql(
      "postgres",
      "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    await expect(openAt(server.address("latin"))).rejects.toThrow(
      /server_encoding is LATIN1\); its encoding must be UTF8/,
    );
    const change = async (text: string) => {
      await server.sql("postgres", text);
      await server.restart();
    };
    await change("ALTER SYSTEM SET fsync = off");
    await expect(openAt(server.address("postgres"))).rejects.toThrow(/because fsync is off/);
    await change("ALTER SYSTEM RESET fsync");
  });

  it("reports a full disk by its name, records nothing, and continues when there is room", async () => {
    const ledger = await open(await server.create("full_disk"));
    await server.sql(
      "full_disk",
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
       $$BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$;
       CREATE TRIGGER no_room BEFORE INSERT ON durable_payments.log FOR EACH ROW EXECUTE FUNCTION no_room();
       CREATE TRIGGER no_room BEFORE INSERT ON durable_payments.leases FOR EACH ROW EXECUTE FUNCTION no_room()`,
    );
    const name = nameOf();
    const full = /No space left on device\); its disk is full: nothing is sent/;
    await expect(ledger.transact(name, saving(name))).rejects.toThrow(full);
    await expect(ledger.check()).rejects.toThrow(full);
    await server.sql("full_disk", "DROP FUNCTION no_room() CASCADE");
    expect((await ledger.transact(name, saving(name))).row?.version).toBe(1);
    await ledger.check();
  });

  it.each([
    [
      "a text that is too long for an index",
      Array.from({ length: 9_000 }, (_, i) =>
        String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000)),
      ).join(""),
    ],
  ])("blocks no other write by %s", async (_, payee) => {
    const ledger = await open(server.address("postgres"));
    const names = ["one", "bad", "two"].map((id) =>
      nameOf({ workflowId: `${id} ${payee.length}` }),
    );
    const ended = await Promise.allSettled(
      names.map((name, index) =>
        ledger.transact(name, (look) => {
          const { row, ...change } = saving(name)(look);
          if (row === undefined || index !== 1) return { ...change, ...(row && { row }) };
          return { ...change, row: { ...row, request: { ...row.request, payee } } };
        }),
      ),
    );
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it.each(["40001", "40P01"])(
    "repeats a transaction that the server rolls back with %s",
    async (state) => {
      const database = `conflict_${state.toLowerCase()}`;
      const ledger = await open(await server.create(database));
      await server.sql(
        database,
        `CREATE SEQUENCE turns;
       CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS
       $$BEGIN IF nextval('public.turns') % 2 = 1 THEN RAISE 'conflict' USING ERRCODE = '${state}'; END IF; RETURN NEW; END$$;
       CREATE TRIGGER conflict BEFORE INSERT ON durable_payments.writes FOR EACH ROW EXECUTE FUNCTION conflict();
       CREATE TRIGGER conflict BEFORE INSERT ON durable_payments.leases FOR EACH ROW EXECUTE FUNCTION conflict()`,
      );
      const name = nameOf();
      expect((await ledger.transact(name, saving(name))).row?.version).toBe(1);
      expect(await ledger.lease("one", "holder", 1_000)).toBe(true);
    },
  );

  it("has no deadlock between many runs that are recorded at once and first rows of the same runs", async () => {
    const address = await server.create("deadlock");
    const [starter, worker] = [await open(address), await open(address)];
    await server.sql(
      "deadlock",
      `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END';
       CREATE TRIGGER slow BEFORE INSERT ON durable_payments.runs FOR EACH ROW EXECUTE FUNCTION slow()`,
    );
    const ids = ["a", "b", "c"];
    await Promise.all([
      ...ids.map((workflowId) => starter.recordStart(runOf({ workflowId }), startOf())),
      ...ids.toReversed().map((workflowId) => {
        const name = nameOf({ workflowId });
        return worker.transact(name, (look) => ({ ...saving(name)(look), workflowType: "payout" }));
      }),
    ]);
    expect(await server.log()).not.toContain("deadlock detected");
    expect((await starter.runs({})).map(({ workflowId }) => workflowId).toSorted()).toEqual(ids);
  });

  it("is opened and read while another has the lock of the whole ledger", async () => {
    const address = await server.create("locked");
    await (await openAt(address)).close();
    const LEDGER_LOCK = 0x44504c32;
    const holding = server
      .sql("locked", `SELECT pg_advisory_lock(${LEDGER_LOCK}), pg_sleep(60)`)
      .catch(String);
    await untilLocked("locked", true);
    const reader = await open(address);
    expect(await reader.overview()).toMatchObject({ toNotify: 0 });
    const stop = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
    await server.sql("locked", stop);
    expect(await holding).toContain("terminating connection");
  });

  it("opens no more connections than connection_limit, and says what to do if the server has too few", async () => {
    const ledger = await open(`${await server.create("limited")}?connection_limit=1`);
    const names = Array.from({ length: 30 }, (_, index) =>
      nameOf({ workflowId: `limit-${index}` }),
    );
    await Promise.all(
      names.flatMap((name) => [ledger.transact(name, saving(name)), ledger.look(name)]),
    );
    const own =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = 'limited' AND application_name = 'durable-payments'";
    expect(await server.sql("postgres", own)).toBe("1");

    await server.sql(
      "postgres",
      `CREATE ROLE few LOGIN CONNECTION LIMIT 1 PASSWORD '${server.password}'`,
    );
    await server.sql("postgres", "CREATE DATABASE few OWNER few");
    const few = await open(server.address("few").replace("tester", "few"));
    const reads = await Promise.allSettled(names.map((name) => few.look(name)));
    expect(
      reads.map((read) => (read.status === "rejected" ? String(read.reason) : "")).join(),
    ).toMatch(/too many connections .*; raise its max_connections, or lower connection_limit/);
  });

  it(
    "works through PgBouncer in session mode with its own defaults",
    skippedBecause(whyNoPgBouncer()),
    async () => {
      const bouncer = await startPgBouncer(server);
      onTestFinished(() => bouncer.stop());
      await server.create("pooled");
      const name = nameOf();
      for (const version of [1, 2]) {
        const ledger = await open(bouncer.address("pooled"));
        expect((await ledger.transact(name, saving(name))).row?.version).toBe(version);
        await ledger.close();
      }
      const schemas =
        "SELECT string_agg(DISTINCT schemaname, ',') FROM pg_tables WHERE tablename = 'writes'";
      expect(await server.sql("pooled", schemas)).toBe("durable_payments");
    },
  );
});
