import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { BreakingProxy } from "@durable-payments/tools/breaking-proxy";
import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { postgresOfTests } from "../support/postgres.ts";
import { makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...payout } = withKey;

// A payout has two commits: `sending` before its dispatch, and its outcome. Their answers may be lost, and then the caller does
// not know whether the ledger has them.
describe("a payout over a ledger whose commits break", skippedBecause(whyNoPostgres()), () => {
  const server = postgresOfTests();
  let proxy: BreakingProxy;
  let count = 0;
  beforeAll(async () => {
    proxy = await BreakingProxy.start(server().port);
  });
  afterAll(() => proxy.stop());

  it.each([
    ["the dispatch's, before it is applied", "before", 1, 0],
    ["the dispatch's, after it was applied", "after", 1, 0],
    ["the outcome's, before it is applied", "before", 2, 1],
    ["the outcome's, after it was applied", "after", 2, 1],
  ] as const)("is made once: %s", async (_title, moment, nth, sentAtFirst) => {
    const database = `broken_${++count}`;
    await server().sql("postgres", `CREATE DATABASE ${database}`);
    const world = await makeWorld({
      openWith: () => openLedger(readLedgerPlace(proxy.through(server().address(database)), "")),
    });
    const made = await world.once({ operation: "createBeneficiary", request: beneficiary });
    if (made.is !== "done") throw new Error(JSON.stringify(made));
    const request = { ...payout, beneficiary_id: made.made["beneficiary_id"] };
    const task = { operation: "createPayout", request };
    const payouts = async () => (await world.simulator.state()).payouts;

    const broken = proxy.breakAt(/^COMMIT/, moment, "reset", nth);
    const first = await world.once(task);
    await broken;
    // Without the commit of `sending`, or without the knowledge of it, nothing leaves.
    expect(await payouts()).toHaveLength(sentAtFirst);
    // The outcome is a fact that only this process has: it is written again.
    expect(first.is).toBe(sentAtFirst === 1 ? "done" : "wait");
    // Temporal hands the version on to the next attempt, as until does among its own.
    const version = first.is === "wait" ? first.version : undefined;
    const testimony = version === undefined ? undefined : ({ is: "version", version } as const);
    const last = await world.until(task, { attempt: 2, testimony });
    const [one, ...others] = await payouts();
    expect(others).toEqual([]);
    expect(last).toMatchObject({ is: "done", made: { payout_id: one?.payout_id } });
    expect(await world.row("createPayout")).toMatchObject({ state: "done", doubt: 0 });
  });
});
