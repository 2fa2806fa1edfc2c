import { BreakingProxy } from "@durable-payments/tools/breaking-proxy";
import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ledger, LedgerUnavailable, openLedger, readLedgerPlace } from "../../src/index.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { nameOf, saving } from "../support/rows.ts";

/** The statements of a transaction, in their order, and whether it is committed if the connection breaks there. */
const MOMENTS = [
  ["before it begins", /^BEGIN/, "before", false],
  ["with the answer to its begin lost", /^BEGIN/, "after", false],
  ["before the locks", /pg_advisory_xact_lock/, "before", false],
  ["after the looks", /AS epoch_now/, "after", false],
  ["before a write", /INSERT INTO .*log/, "before", false],
  ["after a write", /INSERT INTO .*log/, "after", true],
  ["before the commit", /^COMMIT/, "before", false],
  ["with the answer to its commit lost", /^COMMIT/, "after", true],
] as const;

describe("a connection to PostgreSQL", skippedBecause(whyNoPostgres()), () => {
  let server: PostgresServer;
  let proxy: BreakingProxy;
  let ledger: Ledger;
  const uncaught: Array<unknown> = [];
  const note = (error: unknown) => void uncaught.push(error);
  beforeAll(async () => {
    process.on("uncaughtException", note);
    server = await startPostgres();
    proxy = await BreakingProxy.start(Number(new URL(server.address("postgres")).port));
    ledger = await openLedger(readLedgerPlace(proxy.through(server.address("postgres")), ""));
  });
  afterAll(async () => {
    await ledger.close();
    await proxy.stop();
    await server.stop();
    process.off("uncaughtException", note);
  });

  it.each(MOMENTS)("breaks %s", async (title, statement, moment, isCommitted) => {
    for (const how of ["reset", "halfClose"] as const) {
      const name = nameOf({ workflowId: `${title} ${how}` });
      const broken = proxy.breakAt(statement, moment, how);
      await expect(ledger.transact(name, saving(name))).rejects.toThrow(LedgerUnavailable);
      await broken;
      expect((await ledger.look(name)).row !== undefined).toBe(isCommitted);
      // The version follows the one that is stored: nothing is written twice.
      expect((await ledger.transact(name, saving(name))).row?.version).toBe(isCommitted ? 2 : 1);
    }
    expect(uncaught).toEqual([]);
  });
});
