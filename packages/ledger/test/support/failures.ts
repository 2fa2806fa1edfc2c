import { beforeAll, expect, it } from "vitest";
import type { Ledger, RunEnd } from "../../src/index.ts";
import { nameOf, runOf, saving, startOf } from "./rows.ts";

/** Every database groups failed runs alike; `open` gives an empty ledger. */
export const describeFailures = (open: () => Promise<Ledger>): void => {
  let ledger: Ledger;
  const start = (workflowId: string, given: Partial<Parameters<typeof runOf>[0]> = {}) =>
    ledger.recordStart(runOf({ workflowId, ...given }), startOf());
  const endOf = (workflowId: string, endedAt: number, given: Partial<RunEnd> = {}): RunEnd => ({
    workflowId,
    runId: `run of ${workflowId}`,
    endState: "failed",
    endedAt,
    endType: "Refused",
    endStep: "createPayout",
    endReason: `Payout of ${endedAt}.10 EUR to grace${endedAt}@example.com was refused (B-${endedAt}).`,
    ...given,
  });
  beforeAll(async () => {
    ledger = await open();
    for (const at of [1, 2, 3, 4]) await start(`p-${at}`, { amount: "0.10" });
    await start("other-step");
    await start("💳-1", { type: "onboardCardholder", account: "account-2", currency: "EUR" });
    await start("open");
    await start("done");
    await start("cancelled");
    await ledger.recordEnds([
      ...[1, 2, 3, 4].map((at) => endOf(`p-${at}`, at)),
      endOf("other-step", 5, { endStep: "createBeneficiary", endFacts: { version: 3 } }),
      endOf("💳-1", 6, { endType: "NotVerified", endReason: "Mallory was not verified." }),
      // Somebody asked for it in Temporal: nobody retries it among the failed ones.
      endOf("cancelled", 7, { endState: "cancelled", endType: "Cancelled" }),
      endOf("done", 7, { endState: "succeeded", endType: null, endReason: null, endStep: null }),
    ]);
  });

  it("groups failed runs by type, step, error and the message without what differs, with sums and examples", async () => {
    const groups = await ledger.failures({});
    expect(groups.map(({ runs }) => runs)).toEqual([4, 1, 1, 1]);
    const [first] = groups;
    expect(first).toEqual({
      group: expect.stringMatching(/^payout-[\da-f]{8}$/),
      type: "payout",
      step: "createPayout",
      error: "Refused",
      message: "Payout of … EUR to … was refused (…)",
      runs: 4,
      sums: [{ currency: "USD", amount: expect.stringMatching(/^0\.40?$/) }],
      first: 1,
      last: 4,
      examples: ["p-4", "p-3", "p-2"],
    });
  });

  it("groups a message without blanks at once, however long it is", async () => {
    await start("long");
    const endReason = "x".repeat(500_000);
    await ledger.recordEnds([endOf("long", 8, { endReason, endType: "Long" })]);
    expect(await ledger.failures({ error: "Long" })).toMatchObject([{ message: endReason }]);
  });

  it.each([
    [{ step: "createBeneficiary" }, ["other-step"]],
    [{ type: "onboardCardholder" }, ["💳-1"]],
    [{ error: "notverified" }, ["💳-1"]],
    [{ error: "b-3" }, ["p-3"]],
    [{ account: "account-2" }, ["💳-1"]],
    [{ currency: "EUR" }, ["💳-1"]],
    [{ batch: "no such file" }, []],
    [{ payees: ["nobody"] }, []],
    [{ find: "p-1" }, ["p-1"]],
    // A database counts its characters otherwise than JavaScript.
    [{ find: "💳" }, ["💳-1"]],
  ] as const)("finds the failed runs of %j", async (filter, ids) => {
    const found = await ledger.failedRuns(filter, 10);
    expect(found.map(({ run }) => run.workflowId)).toEqual(ids);
    const groups = await ledger.failures(filter);
    expect(groups.reduce((sum, { runs }) => sum + runs, 0)).toBe(ids.length);
  });

  it("finds the runs of a group by its name, also in lists, with their writes and the facts of their failure", async () => {
    const [{ group } = { group: "" }] = await ledger.failures({ step: "createBeneficiary" });
    const name = nameOf({ workflowId: "other-step" });
    await ledger.transact(name, saving(name, { state: "refused" }));
    expect(await ledger.failedRuns({ group }, 10)).toMatchObject([
      { run: { workflowId: "other-step", endFacts: { version: 3 } }, rows: [{ state: "refused" }] },
    ]);
    const { runs } = await ledger.listRuns({ group }, { limit: 10 });
    expect(runs.map(({ run }) => run.workflowId)).toEqual(["other-step"]);
  });

  it("finds a run also by the beginning of its key", async () => {
    await start("payout/inv-50");
    for (const [find, runs] of [
      ["inv-5", 1],
      ["nv-50", 0],
      ["yout/inv-50", 0],
    ] as const)
      expect((await ledger.listRuns({ find }, { limit: 2 })).runs).toHaveLength(runs);
  });

  it("leaves a run out once another run of the id has begun", async () => {
    await ledger.recordEnds([
      endOf("p-1", 8, { endState: null, endType: null, endReason: null, endStep: null }),
    ]);
    expect(await ledger.failures({ find: "p-1" })).toEqual([]);
    const { runs } = await ledger.listRuns({ find: "p-1" }, { limit: 1 });
    expect(runs).toMatchObject([{ run: { endStep: null, endGroup: null } }]);
  });
};
