import { trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { startSimulator, type Simulator } from "@durable-payments/simulator";
import { CancelledFailure } from "@temporalio/common";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Tracking } from "../src/index.ts";
import { activitiesOver, environment, failureOf, type Logged, run } from "./support/activities.ts";
import { beneficiary, cardholder, payout } from "./support/bodies.ts";
import { clientOf, type WaitingClient } from "./support/waiting-runs.ts";

let simulator: Simulator;
let made: ReturnType<typeof activitiesOver>;
let beneficiary_id: string;

const over = (tracker: { turnMs?: number; draining?: AbortSignal }) =>
  activitiesOver(simulator, {}, { tracker });

beforeEach(async () => {
  simulator = await startSimulator({
    settleAfter: Infinity,
    verifyAfter: Infinity,
    balances: { USD: "1000000.00" },
  });
  // One poll, and it ends.
  made = over({ turnMs: 0 });
  ({ beneficiary_id } = await run(made.activities.createBeneficiary, beneficiary));
});
afterEach(async () => {
  await made.close();
  await simulator.stop();
});

const newPayouts = async (count: number): Promise<Array<string>> => {
  const ids: Array<string> = [];
  for (let i = 0; i < count; i++) {
    const body = { ...payout, amount: "1.00", beneficiary_id, unique_request_id: `key-${i}` };
    ids.push((await run(made.activities.createPayout, body)).payout_id);
  }
  return ids;
};

const requests = async (): Promise<{ payouts: number; cardholders: number }> => {
  const { requests: counted } = await simulator.state();
  return {
    payouts: counted["listPayouts"] ?? 0,
    cardholders: counted["listCardholders"] ?? 0,
  };
};

const account = () => ({ clientId: simulator.clientId, baseUrl: simulator.url });

const ofTracker = () => ({
  workflowExecution: { workflowId: trackerId(accountHash(account())), runId: "run-1" },
});

const trackOnce = (
  { client }: WaitingClient,
  info: Parameters<typeof environment>[0] = {},
  logged: Array<Logged> = [],
): Promise<void> =>
  environment({ ...ofTracker(), ...info }, { client, logged }).run(made.activities.trackWaiting);

const waitFor = (payout_id: string) => `payout:${payout_id}`;

describe("the tracker", () => {
  it("asks the service nothing while nobody waits", async () => {
    const runs = clientOf([]);
    await trackOnce(runs);
    // Ids of another account mean nothing to this one.
    expect(runs.queries).toEqual([
      `ExecutionStatus = "Running" AND PaymentAccount = "${accountHash(account())}" AND PaymentAwaits IS NOT NULL`,
    ]);
    expect(await requests()).toEqual({ payouts: 0, cardholders: 0 });
  });

  it("signals every run that waits for a payout that has ended, how, and no other", async () => {
    const [open = "", completed = "", failed = ""] = await newPayouts(3);
    await simulator.setPayoutStatus(completed, "completed");
    await simulator.setPayoutStatus(failed, "returned");
    const runs = clientOf([open, completed, completed, failed].map(waitFor));
    await trackOnce(runs);
    expect(runs.sent).toMatchObject([
      {
        runId: `3:payout:${failed}`,
        signal: "payoutEnded",
        content: { outcome: "failed", payout: { payout_id: failed, amount: "1.00" } },
      },
      { runId: `1:payout:${completed}`, content: { outcome: "completed" } },
      { runId: `2:payout:${completed}`, content: { outcome: "completed" } },
    ]);
    expect(await requests()).toEqual({ payouts: 1, cardholders: 0 });
  });

  it("signals runs of cardholders whose check has ended", async () => {
    const { card_holder_id: id } = await run(made.activities.createCardholder, cardholder);
    await simulator.setVerification(id, "INCOMPLETE");
    const runs = clientOf([`cardholder:${id}`]);
    await trackOnce(runs);
    expect(runs.sent).toMatchObject([
      {
        signal: "cardholderChecked",
        content: { outcome: "incomplete", cardholder: { card_holder_id: id } },
      },
    ]);
    expect(await requests()).toEqual({ payouts: 0, cardholders: 1 });
  });

  it("reads down to the oldest payout waited for, and no page more", async () => {
    const ids = await newPayouts(320);
    // 120 older ones are waited for by nobody.
    const waited = ids.slice(120).map(waitFor);
    await trackOnce(clientOf(waited));
    expect((await requests()).payouts).toBe(200 / 50);
  });

  it("that finds a payout not in the list stops where payouts are older than its run", async () => {
    await newPayouts(120);
    const since = new Date(Date.now() + 3_600_000);
    await trackOnce(clientOf([waitFor("of-another-account")], { since }));
    expect((await requests()).payouts).toBe(1);
  });

  it("goes on from the page at which a killed worker was", async () => {
    const ids = await newPayouts(160);
    await simulator.setPayoutStatus(ids[0]!, "completed");
    const at: Tracking = {
      at: { kind: "payout", page: 3 },
      sweeps: 7,
      requests: 9,
      mostRequests: 4,
      signalled: 0,
      waiting: 1,
      readAt: 0,
    };
    const runs = clientOf([waitFor(ids[0]!)]);
    await trackOnce(runs, { heartbeatDetails: at, attempt: 2 });
    expect(runs.sent).toMatchObject([{ signal: "payoutEnded" }]);
    // Pages 3 and 4.
    expect((await requests()).payouts).toBe(2);
  });

  it("takes a run that is gone for signalled", async () => {
    const [id = ""] = await newPayouts(1);
    await simulator.setPayoutStatus(id, "completed");
    const logged: Array<Logged> = [];
    await trackOnce(clientOf([waitFor(id)], { gone: [waitFor(id)] }), {}, logged);
    expect(logged.filter(({ level }) => level === "WARN")).toEqual([]);
  });

  it("signals all others where a run cannot be signalled", async () => {
    const ids = await newPayouts(60);
    const [old = "", ...others] = ids;
    const young = others.at(-1) ?? "";
    await simulator.setPayoutStatus(old, "completed");
    await simulator.setPayoutStatus(young, "completed");
    const runs = clientOf([old, young].map(waitFor), { refusing: [waitFor(young)] });
    const logged: Array<Logged> = [];
    await trackOnce(runs, {}, logged);
    // It is a page further down.
    expect(runs.sent).toMatchObject([{ runId: `0:payout:${old}` }]);
    expect(logged.map(({ message }) => message)).toContainEqual(
      "The tracker goes on: a run could not be signalled (too many signals)",
    );
  });

  it("outlives a service that does not answer, and signals nobody", async () => {
    const [id = ""] = await newPayouts(1);
    await simulator.setPayoutStatus(id, "completed");
    await simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    const runs = clientOf([waitFor(id)]);
    const logged: Array<Logged> = [];
    await trackOnce(runs, {}, logged);
    expect(runs.sent).toEqual([]);
    expect(logged.map(({ message }) => message)).toContainEqual(
      expect.stringContaining("The tracker waits 1000 ms"),
    );
  });
});

describe("over a longer time the tracker", () => {
  const trackUntil = async (runs: WaitingClient, isEnough: () => Promise<boolean>) => {
    const draining = new AbortController();
    await made.close();
    made = over({ draining: draining.signal });
    const beats: Array<Tracking> = [];
    const running = environment(ofTracker(), { client: runs.client });
    running.on("heartbeat", (beat: Tracking) => beats.push(beat));
    const ended = failureOf(running.run(made.activities.trackWaiting));
    await vi.waitFor(async () => expect(await isEnough()).toBe(true), {
      timeout: 120_000,
      interval: 50,
    });
    draining.abort();
    return { beats, failure: await ended };
  };

  it("signals nobody twice, though visibility lags", async () => {
    const [id = "", other = ""] = await newPayouts(2);
    await simulator.setPayoutStatus(id, "completed");
    const runs = clientOf([id, other].map(waitFor));
    const { beats } = await trackUntil(runs, async () => (await requests()).payouts >= 3);
    expect(runs.sent).toHaveLength(1);
    expect(beats.at(-1)).toMatchObject({ signalled: 1, waiting: 1 });
  });

  it("says by its heartbeats that it does not get on, why, and since when", async () => {
    const runs = clientOf([], { unlisted: "Unknown encoding" });
    const { beats } = await trackUntil(runs, async () => runs.queries.length >= 2);
    expect(beats.at(-1)).toMatchObject({
      failing: { why: "Unknown encoding", since: expect.any(Number) as unknown },
    });
  });

  it("hands over at once when its worker drains, which is no fault", async () => {
    const runs = clientOf([]);
    const { failure } = await trackUntil(runs, async () => runs.queries.length > 0);
    expect(failure).toMatchObject({ type: "Draining", nonRetryable: false });
  });

  it("ends when it is cancelled", async () => {
    await made.close();
    made = over({});
    const runs = clientOf([]);
    const running = environment(ofTracker(), { client: runs.client });
    const ended = running.run(made.activities.trackWaiting);
    running.cancel();
    await expect(ended).rejects.toBeInstanceOf(CancelledFailure);
  });
});

it("the tracker of another account is left to a worker of that account", async () => {
  const runs = clientOf([waitFor("payout-1")]);
  const workflowExecution = { workflowId: "tracker/of-another-account", runId: "run-1" };
  const failure = await failureOf(trackOnce(runs, { workflowExecution }));
  expect(failure).toMatchObject({ type: "OtherAccount", nonRetryable: false });
  expect(runs.queries).toEqual([]);
});

it("the tracker of an account is the same for all of its workers", () => {
  const id = trackerId(accountHash({ clientId: "client-1", baseUrl: "https://payments.example" }));
  // Whoever may look at workflows is not shown the names of accounts.
  expect(id).toMatch(/^tracker\/[0-9a-f]{16}$/);
  expect(
    trackerId(accountHash({ clientId: "client-1", baseUrl: "https://payments.example/" })),
  ).toBe(id);
  expect(
    trackerId(accountHash({ clientId: "client-1", baseUrl: "https://payments.example/test/" })),
  ).not.toBe(id);
});
