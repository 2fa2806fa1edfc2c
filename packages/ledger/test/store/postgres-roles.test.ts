// deploy/postgres/roles.sql: each role can do its work, and none can do what it should not. A grant that is missing stops workers; one
// too many is found by nobody.
import {
  findPostgres,
  type Postgres,
  startPostgres,
  whyNoPostgres,
} from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ledger, openLedger, readLedgerPlace } from "../../src/index.ts";
import { ADA, batchOf, decisionOf, nameOf, runOf, saving, startOf } from "../support/rows.ts";

const checkout = fileURLToPath(new URL("../../../../", import.meta.url));
const ROLES = readFileSync(join(checkout, "deploy/postgres/roles.sql"), "utf8");
/** The commands of docs/deploy.md. */
const COMMANDS =
  /^```sh\n(psql .*?)^```/ms.exec(readFileSync(join(checkout, "docs/deploy.md"), "utf8"))?.[1] ??
  "";
/** What the tests decide about one run, in order. */
const DECIDED = ["start", "amend", "retry", "end"];
const DENIED = /permission denied|must be owner|violates row-level security/;

describe("roles of a ledger in PostgreSQL", skippedBecause(whyNoPostgres()), () => {
  let server: Postgres;
  const folder = mkdtempSync(join(tmpdir(), "ledger-roles-"));
  const owner = () => server.user;
  const addressOf = (user: string) => server.address("postgres").replace(server.user, user);
  const open = (user: string): Promise<Ledger> => openLedger(readLedgerPlace(addressOf(user), ""));

  const query = async (user: string, sql: string): Promise<void> => {
    const client = new Client({ connectionString: addressOf(user) });
    await client.connect();
    try {
      await client.query(`SET search_path = durable_payments; ${sql}`);
    } finally {
      await client.end();
    }
  };

  /** Returns the statements that are not refused for want of a right. */
  const allowed = async (user: string, statements: ReadonlyArray<string>) => {
    const tried = await Promise.allSettled(statements.map((sql) => query(user, sql)));
    return statements.filter((_, index) => {
      const one = tried[index];
      return one?.status !== "rejected" || !DENIED.test(String(one.reason));
    });
  };

  beforeAll(async () => {
    server = await startPostgres(folder);
    const made = await open(owner());
    await made.close();
    execFileSync("sh", ["-ec", COMMANDS], {
      cwd: checkout,
      env: { PATH: `${findPostgres().bin}:/usr/bin:/bin`, OWNER_ADDRESS: addressOf(owner()) },
      stdio: "pipe",
    });
    for (const role of ["worker", "approver", "reader"]) {
      const login = `CREATE ROLE ${role} LOGIN PASSWORD '${server.password}' IN ROLE payments_${role}`;
      await query(owner(), login);
    }
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it("are given to the login that docs/deploy.md creates", async () => {
    await query(owner(), "SET ROLE worker1; SELECT FROM writes");
    await expect(query(owner(), "SET ROLE worker1; DELETE FROM writes")).rejects.toThrow(DENIED);
  });

  it("are granted again after a migration", async () => {
    await query(owner(), "REVOKE SELECT ON durable_payments.meta FROM payments_reader");
    await expect(query("reader", "SELECT FROM meta")).rejects.toThrow(DENIED);
    await query(owner(), ROLES);
    await query("reader", "SELECT FROM meta");
  });

  it("a worker sends, waits and records outcomes", async () => {
    const ledger = await open("worker");
    const name = nameOf({ workflowId: "by-worker" });
    await ledger.pin("payments");
    await ledger.recordStart(runOf({ workflowId: name.workflowId }), startOf());
    expect(await ledger.transact(name, saving(name))).toBeDefined();
    expect(await ledger.lease("metrics", "worker", 1_000)).toBe(true);
    expect(await ledger.lease("metrics", "worker", 0)).toBe(true);
    await ledger.check();
    const { workflowId } = name;
    const wait = {
      account: name.account,
      workflowId,
      runId: "run-1",
      activityId: "awaitPayout:P-1",
    };
    await ledger.openWait({ ...wait, kind: "payout", thing: "P-1" });
    await ledger.closeWaits([{ ...wait, outcome: {} }]);
    // It retries the runs of a repair.
    for (const kind of ["amend", "retry"] as const)
      await ledger.decide(decisionOf({ workflowId, kind, value: { runId: "run-1" } }));
    await ledger.amendRun(workflowId, runOf({ workflowId }));
    await ledger.reopenRun(workflowId, "run-1", "run-2");
    const end = { workflowId, runId: "run-2", endState: "failed", endedAt: 1 } as const;
    await ledger.recordEnds([{ ...end, endType: "Refused", endReason: "no" }]);
    const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout(name.account, "P-1", seen);
    await ledger.readSoon([name.account], "P-1");
    await ledger.rememberPayees(name.account, [{ payee: "b-1", mark: "m", shown: "Ltd" }]);
    await ledger.batchNotified({ id: "none", notifyOf: 1 });
    await ledger.coverRow("none", 1, "Already in another file.");
    await ledger.refuseRow("none", 1, "Temporal refuses it.");
    await ledger.rejectRows("none");
    await ledger.keepPayees("none", [1], { mark: null, shown: null });
    await ledger.finishBatch("none");
    expect(await ledger.claimRows("none", [1])).toEqual([]);
    expect(await ledger.expect(await ledger.mark())).toBe(true);
    const [event] = await ledger.undelivered("endpoint", name.account, 1, 60_000);
    if (event !== undefined) await ledger.delivered("endpoint", event);
    await ledger.noteProblems([]);
    await ledger.close();
  });

  it("an approver decides, pauses, and resumes", async () => {
    const ledger = await open("approver");
    await ledger.decide(decisionOf({ workflowId: "by-worker" }));
    const looser = { maxAmounts: null, approveAbove: null };
    await ledger.setLimits("account-1", { ...looser, approveAbove: { EUR: "10.00" } }, ADA);
    const { pending } = await ledger.setLimits("account-1", looser, ADA);
    const grace = { ...ADA, by: "grace" };
    expect(await ledger.approveLimits("account-1", pending?.sequence ?? 0, grace)).toMatchObject(
      looser,
    );
    expect((await ledger.decisionsOf("by-worker")).map(({ kind }) => kind)).toEqual(DECIDED);
    await ledger.recordStart(runOf({ workflowId: "by-approver" }), startOf());
    await ledger.saveBatch("payouts/1", () => ({ batch: batchOf("payouts/1") }));
    await ledger.recordEnds([]);
    await ledger.amendRun("by-approver", runOf({ workflowId: "by-approver" }));
    await ledger.pause("all", "", ADA);
    expect(await ledger.resume("all", "", ADA)).toBe(true);
    await ledger.recover(ADA);
    expect(await ledger.redeliver("account-1", {})).toBe(1);
    await ledger.check();
    await ledger.close();
  });

  it("a reader sees what the ledger has", async () => {
    const ledger = await open("reader");
    expect((await ledger.overview()).state.namespace).toBe("payments");
    expect(await ledger.rowsOf("by-worker")).toHaveLength(1);
    expect((await ledger.decisionsOf("by-worker")).map(({ kind }) => kind)).toEqual(DECIDED);
    expect(await ledger.batches()).toMatchObject([{ id: "payouts/1" }]);
    expect((await ledger.events("account-1")).map(({ type }) => type)).toContain("limits.changed");
    await ledger.close();
  });

  it.each(["worker", "approver", "reader"])(
    "the %s creates, alters and drops nothing",
    async (user) => {
      const refused = [
        "CREATE TABLE mine (id integer)",
        "CREATE SCHEMA mine",
        "ALTER TABLE writes ADD COLUMN mine integer",
        "DROP TABLE log",
        "DROP SCHEMA durable_payments CASCADE",
        "TRUNCATE writes",
        "INSERT INTO schema_version VALUES (99)",
      ];
      expect(await allowed(user, refused)).toEqual([]);
    },
  );

  it.each(["worker", "approver", "reader"])(
    "the %s changes no line of the log, and deletes no write",
    async (user) => {
      expect(
        await allowed(user, ["UPDATE log SET hash = ''", "DELETE FROM log", "DELETE FROM writes"]),
      ).toEqual([]);
    },
  );

  it("a worker neither decides nor pauses nor resumes, and a reader writes nothing", async () => {
    for (const [user, sql] of [
      ["worker", "INSERT INTO log SELECT * FROM log WHERE kind = 'end'"],
      ["worker", "DELETE FROM pauses"],
      ["worker", "INSERT INTO events SELECT * FROM events"],
      ["worker", "UPDATE events SET state = ''"],
      ["approver", "DELETE FROM events"],
      ["worker", "INSERT INTO batches SELECT * FROM batches"],
      ["reader", "UPDATE meta SET epoch = 9"],
      ["reader", "INSERT INTO log SELECT * FROM log"],
      ["reader", "INSERT INTO writes SELECT * FROM writes"],
      ["reader", "DELETE FROM pauses"],
    ] as const) {
      expect(await allowed(user, [sql])).toEqual([]);
    }
  });
});
