import { BreakingProxy } from "@durable-payments/tools/breaking-proxy";
import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { fork } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Ledger, LedgerUnavailable } from "../../src/index.ts";
import { openAt, startServer, temporaryFolder, type TestServer } from "../support/postgres.ts";
import { nameOf, saving } from "../support/rows.ts";

/** The statements of a transaction in their order, and whether it is committed if the connection breaks there. */
const MOMENTS = [
  ["before it begins", /^BEGIN/, "before", false],
  ["with the answer to its begin lost", /^BEGIN/, "after", false],
  ["before its locks", /pg_advisory_xact_lock/, "before", false],
  ["with the answer to its locks lost", /pg_advisory_xact_lock/, "after", false],
  ["before its look", /AS epoch_now/, "before", false],
  ["after its look", /AS epoch_now/, "after", false],
  ["before a write", /INSERT INTO .*log/, "before", false],
  // The commit is under way by then: the server may have it, or not.
  ["after a write", /INSERT INTO .*log/, "after", undefined],
  ["before its commit", /^COMMIT/, "before", false],
  ["with the answer to its commit lost", /^COMMIT/, "after", true],
] as const;

const TERMINATE =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'durable-payments'";

describe("a connection to PostgreSQL", skippedBecause(whyNoPostgres()), () => {
  let server: TestServer;
  let proxy: BreakingProxy;
  let ledger: Ledger;
  let count = 0;
  const fresh = () => nameOf({ workflowId: `run-${++count}` });
  const uncaught: Array<unknown> = [];
  const note = (error: unknown) => void uncaught.push(error);
  beforeAll(async () => {
    process.on("uncaughtException", note);
    server = await startServer();
    proxy = await BreakingProxy.start(server.port);
    ledger = await openAt(proxy.through(server.address("postgres")));
  });
  afterAll(async () => {
    await ledger.close();
    await proxy.stop();
    await server.stop();
    process.off("uncaughtException", note);
    expect(uncaught).toEqual([]);
  });
  const save = (name = fresh()) => ledger.transact(name, saving(name));

  it.each(MOMENTS)("breaks %s", async (_, statement, moment, isCommitted) => {
    for (const how of ["reset", "halfClose"] as const) {
      const name = fresh();
      const broken = proxy.breakAt(statement, moment, how);
      await expect(save(name)).rejects.toThrow(LedgerUnavailable);
      await broken;
      // The server may still be busy with it: a transaction with the same lock waits for its end.
      const look = await ledger.transact(name, () => ({}));
      const before = look.row?.version ?? 0;
      expect(before === 1).toBe(isCommitted ?? before === 1);
      expect((await save(name)).row?.version).toBe(before + 1);
    }
    expect(uncaught).toEqual([]);
  });

  it("breaks in a read, and while nobody uses it", async () => {
    const broken = proxy.breakAt(/AS epoch_now/, "before");
    await expect(ledger.look(nameOf())).rejects.toThrow(LedgerUnavailable);
    await broken;
    const lost = proxy.breakAt(/FROM waits/, "after");
    await expect(ledger.overview()).rejects.toThrow(LedgerUnavailable);
    await lost;
    await save();
    proxy.breakAll();
    // The next event of this process is that its sockets were reset.
    await expect.poll(() => save().then(() => "saved", String)).toBe("saved");
    expect(uncaught).toEqual([]);
  });

  it("is refused while the server is down, and opened again by itself", async () => {
    proxy.isRefusing = true;
    proxy.breakAll();
    await expect(save()).rejects.toThrow(/cannot be used \(.*\); check that it is running/);
    proxy.isRefusing = false;
    await expect.poll(() => save().then(() => "saved", String)).toBe("saved");
  });

  it.concurrent("goes silent: each caller has an error within the time limits, and the next ones are served", async ({
    expect,
    onTestFinished,
  }) => {
    // Two connections, both in silence, and more transactions and reads than they take.
    const small = await openAt(`${proxy.through(server.address("postgres"))}?connection_limit=2`);
    onTestFinished(() => small.close());
    const saveIn = (name = fresh()) => small.transact(name, saving(name));
    await Promise.all([saveIn(), small.look(nameOf())]);
    const silent = [
      proxy.breakAt(/^BEGIN/, "before", "hang"),
      proxy.breakAt(/^BEGIN/, "before", "hang"),
    ];
    const calls = Array.from({ length: 110 }, () => saveIn());
    await Promise.all(silent);
    const reads = [small.look(nameOf()), small.overview()];
    const ended = await Promise.allSettled([...calls, ...reads]);
    const reasons = ended.map((one) => (one.status === "rejected" ? String(one.reason) : ""));
    expect(reasons.every((reason) => reason.startsWith("LedgerUnavailable: "))).toBe(true);
    expect(reasons[0]).toContain("no answer within 10 s");
    // Not in the first two groups of 50.
    expect(reasons[105]).toContain("earlier transactions have no answer");
    expect(reasons.at(-1)).toContain("all connections of this process are busy");
    await saveIn();
  });

  it.concurrent("goes silent while a ledger is opened: only a migration may take longer than the time limits", async ({
    expect,
    onTestFinished,
  }) => {
    const own = await BreakingProxy.start(server.port);
    onTestFinished(() => own.stop());
    const silent = own.breakAt(/pg_catalog\.pg_tables/, "before", "hang");
    const opening = openAt(own.through(server.address("postgres")));
    await silent;
    await expect(opening).rejects.toThrow("no answer within 10 s");
  });

  it.concurrent("ends a statement that takes too long, which leaves no lock", async ({
    expect,
    onTestFinished,
  }) => {
    const database = await server.create("long");
    const long = await openAt(database);
    onTestFinished(() => long.close());
    await server.sql(
      "long",
      `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
       CREATE TRIGGER wait BEFORE INSERT ON durable_payments.log FOR EACH ROW EXECUTE FUNCTION wait()`,
    );
    const name = fresh();
    await expect(long.transact(name, saving(name))).rejects.toThrow(LedgerUnavailable);
    await server.sql("long", "DROP TRIGGER wait ON durable_payments.log");
    expect((await long.transact(name, saving(name))).row?.version).toBe(1);
  });

  it.concurrent("leads to a standby after a failover: refused by name until it is the primary, then stopped until recover", async ({
    expect,
    onTestFinished,
  }) => {
    const folder = await temporaryFolder();
    const moved = await BreakingProxy.start(server.port);
    const client = await openAt(moved.through(await server.create("moved")));
    const name = fresh();
    await client.transact(name, saving(name));
    const mark = await client.mark();
    const standby = await server.standby(folder);
    onTestFinished(async () => {
      await client.close();
      await moved.stop();
      await standby.stop();
      await rm(folder, { recursive: true });
    });
    moved.serverPort = standby.port;
    moved.breakAll();
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(client.transact(name, saving(name))).rejects.toThrow(LedgerUnavailable);
    }
    await expect(client.look(name)).rejects.toThrow(/it is read-only: a standby/);
    await standby.promote();
    await expect.poll(() => client.expect(mark).catch(String)).toBe(false);
    expect(await client.look(name)).toMatchObject({
      row: { version: 1 },
      stopped: expect.stringContaining("a standby or backup took its place") as string,
    });
  });

  it("is not kept if its server becomes read-only, and no decision is made there", async () => {
    await save();
    const change = async (text: string) => {
      await server.sql("postgres", text);
      await server.sql("postgres", "SELECT pg_reload_conf()");
    };
    let decisions = 0;
    const decide = () => ledger.transact(fresh(), () => (decisions++, {}));
    try {
      await change("ALTER SYSTEM SET default_transaction_read_only = on");
      // A backend learns of it between two statements.
      await expect.poll(() => decide().then(() => "decided", String)).toContain("it is read-only");
      const before = decisions;
      await expect(decide()).rejects.toThrow(/transaction_read_only is on/);
      expect(decisions).toBe(before);
    } finally {
      await change("ALTER SYSTEM RESET default_transaction_read_only");
    }
    await expect.poll(() => save().then(() => "saved", String)).toBe("saved");
  });

  it("is terminated under load, again and again, and so is the server: the process lives, and lost nothing", async () => {
    const address = proxy.through(await server.create("load"));
    // A process of its own that writes all the time, as a worker does.
    const child = fork(new URL("../support/load-process.ts", import.meta.url), [address], {
      execArgv: ["--conditions=@durable-payments/source"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const exited = once(child, "exit");
    let seen: { done: number; reasons?: ReadonlyArray<string> } = { done: 0 };
    child.on("message", (message) => {
      seen = { ...seen, ...(message as typeof seen) };
    });
    const ended = new AbortController();
    void exited.then(() => ended.abort(new Error("the process ended")));
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await once(child, "message", { signal: ended.signal });
    };
    const goesOn = () => {
      const { done } = seen;
      return until(() => seen.done > done + 8);
    };
    for (let round = 0; round < 5; round++) {
      await goesOn();
      await server.sql("load", TERMINATE);
    }
    await goesOn();
    await server.restart();
    await goesOn();
    child.send("stop");
    await until(() => seen.reasons !== undefined);
    expect(new Set(seen.reasons)).toEqual(new Set(["LedgerUnavailable"]));
    // Its idle connections go silent: nothing answers their goodbye.
    proxy.breakAll("hang");
    child.send("close");
    expect(await exited).toEqual([0, null]);
    const rows = await server.sql("load", "SELECT count(*) FROM durable_payments.writes");
    expect(Number(rows)).toBeGreaterThanOrEqual(seen.done);
  });
});
