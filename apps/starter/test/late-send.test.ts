import type { PayoutInput } from "@durable-payments/protocol";
import {
  beneficiary,
  ID,
  like,
  listWith,
  options,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const folder = await mkdtemp(join(tmpdir(), "starter-test-"));
afterAll(() => rm(folder, { recursive: true }));
const journal = join(folder, "journal.sqlite");
const { service, simulator, start, starter, starterProcess, temporal } = await makeRepairRig({
  PAYMENTS_JOURNAL: `sqlite:${journal}`,
});
const { workflow } = temporal.client;

const PATIENCE = { timeout: 120_000, interval: 100 };

const paying = (reference: string): PayoutInput => ({
  beneficiary: { ...beneficiary, nickname: reference },
  payout: { ...payout, payout_reference: reference },
  options,
});

const paid = async (reference: string) => {
  const { payouts } = await simulator.state();
  return payouts.filter(({ payout_reference }) => payout_reference === reference);
};

const requests = async () => (await simulator.state()).requests["createPayout"] ?? 0;

/** What the worker's journal has of the payout of a run. */
const outcomeOf = (workflowId: string): unknown => {
  const file = new DatabaseSync(journal, { readOnly: true });
  try {
    return file
      .prepare("SELECT outcome FROM sends WHERE workflow_id = ? AND operation = 'createPayout'")
      .get(workflowId)?.["outcome"];
  } finally {
    file.close();
  }
};

/** Starts a payout that is turned away, and waits for a while, within its activity, to be sent again. */
const startTurnedAway = async (workflowId: string): Promise<void> => {
  const before = await requests();
  await simulator.addFault({ kind: "rate-limited", operation: "createPayout", seconds: 14 });
  await start("payout", workflowId, paying(workflowId));
  await vi.waitFor(async () => expect(await requests()).toBe(before + 1), PATIENCE);
  // The next heartbeat, by which the worker would learn of an end, comes 12 seconds after this one.
  await vi.waitFor(async () => {
    const { raw } = await workflow.getHandle(workflowId).describe();
    const [sending] = raw.pendingActivities ?? [];
    expect(sending?.activityType?.name).toBe("createPayout");
    expect(sending?.lastHeartbeatTime?.seconds?.toNumber()).toBeGreaterThan(0);
  }, PATIENCE);
};

/** Awaits what the worker has written down when the wait was over: it was sent then, or refused. */
const untilTried = (workflowId: string) =>
  vi.waitFor(() => expect(outcomeOf(workflowId)).not.toBe("begun"), PATIENCE);

it("what waits to be sent again is not sent after its run was terminated", async () => {
  await startTurnedAway("terminated");
  await workflow.getHandle("terminated").terminate("wrong");
  await untilTried("terminated");
  expect(outcomeOf("terminated")).toBe("notCarriedOut");
  expect(await paid("terminated")).toEqual([]);
  // What the starter knows is that a worker may have been late.
  const settle = ["settle", "terminated", "--by", "Ada", "--reason", "not listed"];
  const settled = await starter([...settle, "--not-carried-out", "--json"]);
  const { closeTime } = await workflow.getHandle("terminated").describe();
  expect(jsonOf(settled)).toEqual({
    workflowId: "terminated",
    runId: ID,
    step: "createPayout",
    status: "settled",
    notConfirmed: "PAYMENTS_* is not set here",
    journalNotRead: like(/PAYMENTS_CLIENT_ID is not set here/),
    retry: listWith("retry"),
    mayBeSentUntil: new Date((closeTime?.getTime() ?? 0) + 90_000).toISOString(),
  });
  // The service shows none: it may only show it late. The journal knows.
  const asked = { ...service, PAYMENTS_JOURNAL: "none" };
  const unlisted = await starterProcess([...settle, "--not-carried-out", "--json"], { env: asked });
  expect(jsonOf(unlisted)).toMatchObject({
    notConfirmed: like(/no payout under the key that was sent, which is no proof/),
  });
  const person = await starter([...settle, "--not-carried-out"]);
  expect(person.stdout).toMatch(/^createPayout of terminated is settled;/);
  expect(person.stdout).toContain("may still send createPayout");
  expect(tooWide(person.stdout)).toEqual([]);
  const found = await starter([...settle, "--found", "payout_id=7d595adc", "--json"]);
  expect(jsonOf(found)).not.toHaveProperty("mayBeSentUntil");
});

it("what waits to be sent again is not sent after its run was cancelled, which ends as cancelled", async () => {
  await startTurnedAway("cancelled");
  await workflow.getHandle("cancelled").cancel();
  await expect(workflow.result("cancelled")).rejects.toThrow();
  expect((await workflow.getHandle("cancelled").describe()).status.name).toBe("CANCELLED");
  expect(outcomeOf("cancelled")).toBe("notCarriedOut");
  expect(await paid("cancelled")).toEqual([]);
  const { inDoubt } = jsonOf(await starter(["attention", "--json"]));
  expect(JSON.stringify(inDoubt)).not.toContain('"cancelled"');
});
