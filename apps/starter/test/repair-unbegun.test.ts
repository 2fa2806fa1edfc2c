import { defaultAssumptions } from "@durable-payments/api-core";
import { settle } from "@durable-payments/operations/decisions";
import { cancelRun, terminateRun } from "@durable-payments/operations/ending";
import {
  type Temporal,
  temporalSettings,
  withTemporal,
} from "@durable-payments/operations/connection";
import { type RetryOptions, retryRun } from "@durable-payments/operations/retry";
import { reportRun } from "@durable-payments/operations/runs";
import { readTimeline } from "@durable-payments/operations/timeline";
import { beneficiary, options, payout } from "@durable-payments/tools/test-data";
import { expect, it, onTestFailed, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";

// A busy machine takes its time.

const { ended, replaceWorker, simulator, start, stopWorker, temporal } = await makeRepairRig();

const PATIENCE = { timeout: 120_000, interval: 100 };

const connected = <A>(use: (temporal: Temporal) => Promise<A>): Promise<A> =>
  withTemporal(temporalSettings({ TEMPORAL_ADDRESS: temporal.address }), use);

const paying = (id: string, amount: string) => ({
  beneficiary: { ...beneficiary, nickname: id },
  payout: { ...payout, amount, payout_reference: id },
  options: { ...options, onRefusal: "fail" as const },
});

const paid = async (id: string) =>
  (await simulator.state()).payouts
    .filter(({ payout_reference }) => payout_reference === id)
    .map(({ amount }) => amount);

const requests = async () => (await simulator.state()).requests["createPayout"] ?? 0;

const retrying = (patch?: unknown): RetryOptions => ({
  by: "Bob",
  reason: "again",
  from: undefined,
  patch,
  assumptions: defaultAssumptions,
  decisions: "keep",
});

const terminating = { by: "Ada", reason: "no worker" };

/** Ends a run while its payout has no answer, and its retry before a worker has taken that. */
const endTwice = async (id: string, amount: string): Promise<void> => {
  onTestFailed(replaceWorker);
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 15_000 });
  const before = await requests();
  await start("payout", id, paying(id, amount));
  await vi.waitFor(async () => expect(await requests()).toBe(before + 1), PATIENCE);
  await connected((t) => terminateRun(t, id, terminating));
  await stopWorker();
  await connected(async (t) => {
    await retryRun(t, id, retrying());
    await terminateRun(t, id, terminating);
  });
};

it("a retry that was ended before it began is retried, and its payout is paid once", async () => {
  const id = "ended twice";
  await endTwice(id, "21.00");
  await connected(async (t) => {
    expect(await reportRun(t, id)).toMatchObject({
      state: "terminated",
      inDoubt: [{ step: "createPayout", amount: "21.00" }],
      retry: { operation: "retry", workflowId: id },
    });
    const { plan } = await retryRun(t, id, retrying());
    expect(plan).toMatchObject({
      from: "createPayout",
      stays: ["createBeneficiary"],
      instruction: { sent: { createPayout: { outcome: "unknown" } } },
    });
  });
  await replaceWorker();
  expect(await ended(id)).toBe("COMPLETED");
  expect(await paid(id)).toEqual(["21.00"]);
});

it("a retry that was cancelled before it began is retried, and its payout is paid once", async () => {
  const id = "cancelled before it began";
  onTestFailed(replaceWorker);
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 15_000 });
  const before = await requests();
  await start("payout", id, paying(id, "23.00"));
  await vi.waitFor(async () => expect(await requests()).toBe(before + 1), PATIENCE);
  await connected((t) => terminateRun(t, id, terminating));
  await stopWorker();
  await connected(async (t) => {
    await retryRun(t, id, retrying());
    await cancelRun(t, id, { by: "Eve", reason: "not now" });
  });
  await replaceWorker();
  // It does not know what became of its payout.
  expect(await ended(id)).toBe("FAILED");
  const { plan } = await connected((t) => retryRun(t, id, retrying()));
  expect(plan).toMatchObject({ from: "createPayout", stays: ["createBeneficiary"] });
  expect(await ended(id)).toBe("COMPLETED");
  expect(await paid(id)).toEqual(["23.00"]);
});

it("a retry that was ended before it began can be settled, and retried", async () => {
  const id = "ended twice, settled";
  await endTwice(id, "22.00");
  const found = await vi.waitFor(async () => {
    const made = (await simulator.state()).payouts.find((one) => one.payout_reference === id);
    return { payout_id: String(made?.payout_id) };
  }, PATIENCE);
  await connected(async (t) => {
    const settled = await settle(t, id, { by: "Ada", reason: "seen", step: undefined, found });
    expect(settled.step).toBe("createPayout");
    expect((await reportRun(t, id)).inDoubt).toEqual([]);
    await retryRun(t, id, retrying());
  });
  await replaceWorker();
  expect(await ended(id)).toBe("COMPLETED");
  expect(await paid(id)).toEqual(["22.00"]);
});

it("a retry that was ended before it began hands its amendment on", async () => {
  const id = "ended twice, amended";
  onTestFailed(replaceWorker);
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await start("payout", id, paying(id, "700.00"));
  expect(await ended(id)).toBe("FAILED");
  await stopWorker();
  await connected(async (t) => {
    await retryRun(t, id, retrying({ payout: { amount: "7.00" } }));
    await terminateRun(t, id, terminating);
    await retryRun(t, id, retrying());
  });
  await replaceWorker();
  expect(await ended(id)).toBe("COMPLETED");
  expect(await paid(id)).toEqual(["7.00"]);
  const { steps, summary } = await connected((t) => readTimeline(t, id));
  expect(summary).toBe("Pay 7.00 EUR to a new beneficiary");
  const outcomes = steps
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.kind === "activity" ? [event.outcome] : []));
  expect(outcomes).not.toContain("pending");
});
