import { accountHash } from "@durable-payments/protocol";
import { type ClientSettings, PaymentsClient } from "@durable-payments/client/effect";
import { openLedger } from "@durable-payments/ledger";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { Effect } from "effect";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { optionsOf } from "../../src/run-operation.ts";
import { makeWaitActivities, type WaitsBy } from "../../src/waits.ts";
import { failureOf, run, runtimeOver } from "../support/attempts.ts";
import { beneficiary, cardholder, payout } from "../support/bodies.ts";
import { putRow } from "../support/rows.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    settleAfter: Infinity,
    verifyAfter: Infinity,
    balances: { USD: "100000.00" },
  });
});
afterAll(() => simulator.stop());

const make = async (waits: WaitsBy, settings: Partial<ClientSettings> = {}) => {
  const runtime = runtimeOver(simulator, settings);
  const ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
  const hash = await optionsOf(runtime).then(accountHash);
  const activities = makeWaitActivities({ runtime, ledger, waits, account: async () => hash });
  return { activities, ledger, runtime, account: hash };
};

const newPayout = (runtime: Awaited<ReturnType<typeof make>>["runtime"]): Promise<string> =>
  runtime.runPromise(
    Effect.gen(function* () {
      const client = yield* PaymentsClient;
      const { beneficiary_id } = yield* client.createBeneficiary(beneficiary);
      const unique_request_id = crypto.randomUUID();
      return (yield* client.createPayout({ ...payout, beneficiary_id, unique_request_id }))
        .payout_id;
    }),
  );

const newCardholder = (runtime: Awaited<ReturnType<typeof make>>["runtime"]): Promise<string> =>
  runtime.runPromise(
    Effect.gen(function* () {
      const client = yield* PaymentsClient;
      return (yield* client.createCardholder(cardholder)).card_holder_id;
    }),
  );

describe("a wait that the tracker completes", () => {
  it("is recorded before the activity leaves its end to others", async () => {
    const { account, activities, ledger, runtime } = await make("completed");
    const payout_id = await newPayout(runtime);
    const activityId = `awaitPayout:${payout_id}`;
    const failure = await failureOf(run({ activityId }, activities.awaitPayout, { payout_id }));
    expect(failure).toMatchObject({ type: "NotYet", nextRetryDelay: 6 * HOUR_MS });
    expect(await ledger.waits({ account, isOpen: true })).toMatchObject([
      { workflowId: "run-1", runId: "1", activityId, kind: "payout", thing: payout_id },
    ]);
  });

  it("is left to the tracker although the service cannot be read", async () => {
    const { activities, ledger } = await make("completed", { baseUrl: "http://127.0.0.1:9" });
    const failure = await failureOf(run({}, activities.awaitPayout, { payout_id: "p-1" }));
    expect(failure).toMatchObject({ type: "NotYet", nextRetryDelay: 6 * HOUR_MS });
    expect(await ledger.waits({})).toHaveLength(1);
  });

  it("is tried again by Temporal where it cannot be recorded", async () => {
    const { activities, ledger, runtime } = await make("completed");
    const payout_id = await newPayout(runtime);
    await ledger.close();
    const failure = await failureOf(run({}, activities.awaitPayout, { payout_id }));
    expect(failure).toMatchObject({
      type: "NotYet",
      message: expect.stringContaining("the ledger"),
      nextRetryDelay: 60_000,
    });
  });
});

describe("a wait that polls", () => {
  it.each([
    [0, 1_000],
    [HOUR_MS, 360_000],
    [20 * DAY_MS, 6 * HOUR_MS],
  ])("after %i ms reads again after %i ms", async (waited, expected) => {
    const { activities, ledger, runtime } = await make("polled");
    const payout_id = await newPayout(runtime);
    const now = Date.now();
    const info = { scheduledTimestampMs: now - waited, currentAttemptScheduledTimestampMs: now };
    const failure = await failureOf(run(info, activities.awaitPayout, { payout_id }));
    expect(failure).toMatchObject({ type: "NotYet", nextRetryDelay: expected });
    expect(await ledger.waits({})).toEqual([]);
  });

  it("reads again before its end, as a delay beyond it would end it at once", async () => {
    const { activities, runtime } = await make("polled");
    const payout_id = await newPayout(runtime);
    const now = Date.now();
    const info = {
      scheduledTimestampMs: now - 10 * DAY_MS,
      scheduleToCloseTimeoutMs: 10 * DAY_MS + 60_000,
      currentAttemptScheduledTimestampMs: now,
    };
    const failure = await failureOf(run(info, activities.awaitPayout, { payout_id }));
    expect(failure.nextRetryDelay).toBe(54_000);
  });
});

describe("a payout", () => {
  it("that has ended is answered at once, with its id", async () => {
    const { activities, runtime } = await make("completed");
    const payout_id = await newPayout(runtime);
    await simulator.setPayoutStatus(payout_id, "completed");
    expect(await run({}, activities.awaitPayout, { payout_id })).toMatchObject({
      payout_id,
      outcome: "completed",
    });
  });

  it("is open while its status is unknown; only a look answers so", async () => {
    const { activities, runtime } = await make("completed");
    const payout_id = await newPayout(runtime);
    await simulator.setPayoutStatus(payout_id, "a word that nobody knows");
    expect(await run({}, activities.awaitPayout, { payout_id, mode: "look" })).toMatchObject({
      outcome: "open",
      payout_status: "a word that nobody knows",
    });
  });

  it("that shows something else than was sent is answered with the contradiction", async () => {
    const { account, activities, ledger, runtime } = await make("completed");
    const payout_id = await newPayout(runtime);
    await simulator.setPayoutStatus(payout_id, "completed");
    const request = { hash: "h", terms: "t", reference: null, paymentDate: null, facts: {} };
    await putRow(ledger, {
      account,
      state: "done",
      madeId: payout_id,
      request: { ...request, amount: "1.00", currency: "EUR", payee: "another" },
    });
    const seen = await run({}, activities.awaitPayout, { payout_id });
    expect(seen.contradiction).toMatch(/for a payout of 1\.00 EUR/);
  });

  it("whose id cannot be one ends the wait", async () => {
    const { activities } = await make("completed");
    const failure = await failureOf(run({}, activities.awaitPayout, { payout_id: "" }));
    expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
  });
});

describe("a cardholder", () => {
  it("is verified, or refused, by its row of the list", async () => {
    const { activities, runtime } = await make("completed");
    const card_holder_id = await newCardholder(runtime);
    const look = () => run({}, activities.awaitVerification, { card_holder_id, mode: "look" });
    expect(await look()).toMatchObject({ card_holder_id, outcome: "open" });
    await simulator.setVerification(card_holder_id, "SUCCESS");
    expect(await look()).toMatchObject({ outcome: "verified" });
    await simulator.setVerification(card_holder_id, "FAILED");
    expect(await look()).toMatchObject({ outcome: "refused" });
  });
});

describe("funds", () => {
  it("that are there are answered with the balance's id", async () => {
    const { activities } = await make("completed");
    const seen = await run({}, activities.awaitFunds, { currency: "USD", amount: "1.00" });
    expect(seen).toMatchObject({ currency: "USD", amount: "1.00", outcome: "enough" });
    expect(seen.balance_id).not.toBe("");
  });

  it("that are not say what is held and needed", async () => {
    const { activities } = await make("polled");
    const failure = await failureOf(
      run({}, activities.awaitFunds, { currency: "USD", amount: "1000000000.00" }),
    );
    expect(failure.message).toMatch(/^The USD balance holds .*, but 1000000000\.00 is needed\.$/);
  });

  it("of a balance that does not exist are refused: the step creates it, by a row", async () => {
    const { activities } = await make("polled");
    const failure = await failureOf(
      run({}, activities.awaitFunds, { currency: "EUR", amount: "5.00" }),
    );
    expect(failure).toMatchObject({ type: "Refused", nonRetryable: true });
  });
});

describe("a payout that may come back", () => {
  it("is answered by what the ledger has recorded, or by a reading, and is open until then", async () => {
    const { account, activities, ledger, runtime } = await make("polled");
    const payout_id = await newPayout(runtime);
    await putRow(ledger, {
      account,
      workflowId: "run-1",
      step: "createPayout",
      operation: "createPayout",
      state: "done",
      madeId: payout_id,
    });
    const look = () => run({}, activities.awaitReturn, { payout_id, mode: "look" });
    expect(await look()).toMatchObject({ payout_id, outcome: "open" });
    await simulator.setPayoutStatus(payout_id, "completed");
    expect(await look()).toMatchObject({ outcome: "open", payout_status: "completed" });
    expect((await ledger.payout(account, payout_id))?.standing).toBe("completed");
    const failure = await failureOf(run({}, activities.awaitReturn, { payout_id }));
    expect(failure).toMatchObject({ type: "NotYet" });
    await simulator.setPayoutStatus(payout_id, "failed");
    const before = (await simulator.state()).requests["retrievePayout"];
    const activityId = `awaitReturn:${payout_id}`;
    const seen = await run({ activityId }, activities.awaitReturn, { payout_id });
    expect(seen).toMatchObject({ payout_id, outcome: "returned", payout_status: "failed" });
    const row = await ledger.payout(account, payout_id);
    expect(Date.parse(seen.seen_at)).toBe(row?.outcomeAt);
    // The next write of its run compares it.
    expect(await ledger.waits({ workflowId: "run-1" })).toMatchObject([
      { activityId, kind: "return", outcome: { outcome: "returned" } },
    ]);
    // What is recorded needs no request.
    expect(await look()).toEqual(seen);
    expect((await simulator.state()).requests["retrievePayout"]).toBe((before ?? 0) + 1);
  });

  it("is answered by the service's word if the ledger does not know it", async () => {
    const { activities, runtime } = await make("polled");
    const payout_id = await newPayout(runtime);
    for (const status of ["completed", "returned"])
      await simulator.setPayoutStatus(payout_id, status);
    expect(await run({}, activities.awaitReturn, { payout_id })).toMatchObject({
      outcome: "returned",
      payout_status: "returned",
    });
  });
});
