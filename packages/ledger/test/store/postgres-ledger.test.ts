import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeLedger } from "../support/contract.ts";
import { openAt, startServer, type TestServer } from "../support/postgres.ts";
import { nameOf, saving } from "../support/rows.ts";

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
  const open = (database = "postgres") => openAt(server.address(database));

  // Nothing depends on the settings of a database, which here are not those of a new server.
  describeLedger(() => open("strange"));

  it("is made by one of many workers that start at once", async () => {
    await server.create("many");
    const ledgers = await Promise.all(Array.from({ length: 8 }, () => open("many")));
    const ids = await Promise.all(ledgers.map(async (ledger) => (await ledger.mark()).ledgerId));
    expect(new Set(ids).size).toBe(1);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
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

  it("refuses a later version", async () => {
    await server.create("later");
    const running = await open("later");
    await server.sql("later", "INSERT INTO durable_payments.schema_version VALUES (99)");
    expect((await running.look(nameOf())).isOutdated).toBe(true);
    await running.close();
    await expect(open("later")).rejects.toThrow(/has version 99/);
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
