import type { ClientSettings } from "@durable-payments/api-core";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { ApplicationFailureCategory } from "@temporalio/common";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NOT_YET } from "../src/index.ts";
import {
  activitiesFor,
  activitiesOver,
  failureOf,
  type Logged,
  run,
} from "./support/activities.ts";
import { beneficiary, cardholder, payout } from "./support/bodies.ts";
import { startRawService, success } from "./support/raw-service.ts";

const DAY_MS = 86_400_000;

const pace = { minIntervalMs: 1_000, maxIntervalMs: 900_000, until: Date.now() + 30 * DAY_MS };

let simulator: Simulator;
let made: ReturnType<typeof activitiesFor>;
const begin = async (
  options: Parameters<typeof startSimulator>[0] = {},
  settings: Partial<ClientSettings> = {},
): Promise<void> => {
  simulator = await startSimulator({
    settleAfter: Infinity,
    verifyAfter: Infinity,
    balances: { USD: "1000.00" },
    ...options,
  });
  made = activitiesOver(simulator, settings);
};
const end = async (): Promise<void> => {
  await made.close();
  await simulator.stop();
};
beforeEach(() => begin());
afterEach(end);

const newPayout = async (): Promise<string> => {
  const { beneficiary_id } = await run(made.activities.createBeneficiary, beneficiary);
  return (await run(made.activities.createPayout, { ...payout, beneficiary_id })).payout_id;
};

const newCardholder = async (): Promise<string> =>
  (await run(made.activities.createCardholder, cardholder)).card_holder_id;

const scheduledAgo = (ms: number) => ({ scheduledTimestampMs: Date.now() - ms });

describe("while what is awaited has not happened", () => {
  it("an activity fails so that Temporal tries again, and is logged as nothing special", async () => {
    const payout_id = await newPayout();
    const logged: Array<Logged> = [];
    const failure = await failureOf(
      run(made.activities.awaitPayoutEnd, { payout_id, ...pace }, {}, { logged }),
    );
    expect(failure).toMatchObject({
      type: NOT_YET,
      nonRetryable: false,
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: 1_000,
      message: "The payout is processing.",
    });
    expect(logged.filter(({ level }) => level !== "DEBUG")).toEqual([]);
  });

  it.each([
    [0, 1_000],
    [9_000, 1_000],
    [60_000, 6_000],
    [3_600_000, 360_000],
    [20 * 86_400_000, 900_000],
  ])("after %i ms the next poll comes after %i ms", async (waited, expected) => {
    const payout_id = await newPayout();
    const failure = await failureOf(
      run(made.activities.awaitPayoutEnd, { payout_id, ...pace }, scheduledAgo(waited)),
    );
    // A tenth of the time that this test itself takes may come on top.
    expect(Number(failure.nextRetryDelay)).toBeGreaterThanOrEqual(expected);
    expect(Number(failure.nextRetryDelay)).toBeLessThan(expected + 500);
  });
});

describe("at the end of a wait", () => {
  const in45Minutes = () => ({ ...pace, minIntervalMs: 3_600_000, until: Date.now() + 2_700_000 });

  it("a poll is made, however long the time between two polls", async () => {
    const payout_id = await newPayout();
    const failure = await failureOf(
      run(made.activities.awaitPayoutEnd, { payout_id, ...in45Minutes() }),
    );
    expect(failure.type).toBe(NOT_YET);
    expect(Number(failure.nextRetryDelay)).toBeGreaterThan(2_690_000);
    expect(Number(failure.nextRetryDelay)).toBeLessThanOrEqual(2_700_000);
  });

  it("a service that asks to come back later is asked before it is over", async () => {
    await simulator.addFault({
      kind: "rate-limited",
      operation: "retrievePayout",
      seconds: 36_000,
    });
    const failure = await failureOf(
      run(made.activities.awaitPayoutEnd, { payout_id: "payout-1", ...in45Minutes() }),
    );
    expect(failure.type).toBe("RateLimited");
    expect(Number(failure.nextRetryDelay)).toBeLessThanOrEqual(2_700_000);
  });

  it("what is seen is the result, by the server's clock and not the worker's", async () => {
    const payout_id = await newPayout();
    const card_holder_id = await newCardholder();
    const until = Date.now() + 365 * DAY_MS;
    const over = { ...pace, until };
    const then = { currentAttemptScheduledTimestampMs: until };
    const { activities } = made;
    expect(await run(activities.awaitPayoutEnd, { payout_id, ...over }, then)).toMatchObject({
      outcome: "open",
      payout: { payout_status: "processing" },
    });
    expect(
      await run(activities.awaitVerification, { card_holder_id, ...over }, then),
    ).toMatchObject({ outcome: "open", cardholder: { card_holder_status: "PENDING" } });
    expect(
      await run(activities.awaitVerification, { card_holder_id: "no-such", ...over }, then),
    ).toEqual({ outcome: "open", cardholder: null });
    const needed = { currency: "USD", amount: "5000.00" };
    expect(await run(activities.awaitFunds, { ...needed, ...over }, then)).toMatchObject({
      isEnough: false,
    });
    await simulator.setPayoutStatus(payout_id, "returned");
    await simulator.setVerification(card_holder_id, "SUCCESS");
    expect(await run(activities.awaitPayoutEnd, { payout_id, ...over }, then)).toMatchObject({
      outcome: "failed",
    });
    expect(
      await run(activities.awaitVerification, { card_holder_id, ...over }, then),
    ).toMatchObject({ outcome: "verified" });
  });
});

describe("awaitPayoutEnd", () => {
  it("ends when the payout is completed", async () => {
    const payout_id = await newPayout();
    await simulator.setPayoutStatus(payout_id, "completed");
    const ended = await run(made.activities.awaitPayoutEnd, { payout_id, ...pace });
    expect(ended).toMatchObject({
      outcome: "completed",
      payout: { payout_id, payout_status: "completed" },
    });
    expect(ended.payout.complete_time).toMatch(/^\d{4}-/);
  });

  it.each(["failed", "REJECTED", "cancelled", "returned"])("ends when it is %s", async (status) => {
    const payout_id = await newPayout();
    await simulator.setPayoutStatus(payout_id, status);
    expect(await run(made.activities.awaitPayoutEnd, { payout_id, ...pace })).toMatchObject({
      outcome: "failed",
      payout: { payout_status: status },
    });
  });

  it("goes on through statuses of which nothing is known", async () => {
    const payout_id = await newPayout();
    for (const status of ["awaiting_funds", "funds_arrived", "something new"]) {
      await simulator.setPayoutStatus(payout_id, status);
      const failure = await failureOf(run(made.activities.awaitPayoutEnd, { payout_id, ...pace }));
      expect(failure).toMatchObject({ type: NOT_YET, message: `The payout is ${status}.` });
    }
  });

  it("takes the endings from the assumptions", async () => {
    await end();
    const assumptions = {
      payoutCompletedStatuses: ["closed"],
      payoutFailedStatuses: ["completed"],
    };
    await begin({}, { assumptions });
    const payout_id = await newPayout();
    const poll = () => run(made.activities.awaitPayoutEnd, { payout_id, ...pace });
    await simulator.setPayoutStatus(payout_id, "closed");
    expect(await poll()).toMatchObject({ outcome: "completed" });
    await simulator.setPayoutStatus(payout_id, "completed");
    expect(await poll()).toMatchObject({ outcome: "failed" });
  });
});

describe("a payout that is read", () => {
  const sent = { amount: "50.00", currency: "EUR", beneficiary_id: "ben-000001" };
  const answered = {
    payout_id: "payout-1",
    payout_status: "completed",
    ...sent,
  };
  const checkAnswered = async (
    fields: Readonly<Record<string, string>>,
    settings: Partial<ClientSettings> = {},
  ) => {
    const service = await startRawService(() => success({ ...answered, ...fields }));
    const raw = activitiesFor(service.url, settings);
    try {
      return await run(raw.activities.checkPayout, { payout_id: "payout-1", sent });
    } finally {
      await raw.close();
      await service.stop();
    }
  };

  it("is another one where the answer has another id: it is read again", async () => {
    expect(await failureOf(checkAnswered({ payout_id: "other-id" }))).toMatchObject({
      type: "UnexpectedAnswer",
      nonRetryable: false,
      message: "retrievePayout was answered about the payout other-id, not payout-1.",
    });
    const shown = await checkAnswered(
      { payout_id: "other-id" },
      { assumptions: { payoutFieldsAsSent: [] } },
    );
    expect(shown).toMatchObject({ outcome: "completed" });
  });

  it.each([
    [{ amount: "5.00" }, "5.00 EUR for a payout of 50.00 EUR"],
    [{ currency: "USD" }, "50.00 USD for a payout of 50.00 EUR"],
    [
      { beneficiary_id: "ben-000002" },
      "50.00 EUR to ben-000002 for a payout of 50.00 EUR to ben-000001",
    ],
  ])("contradicts what was sent with %o, unless it is assumed to", async (fields, words) => {
    expect(await checkAnswered(fields)).toMatchObject({ contradiction: words });
    const assumed = await checkAnswered(fields, {
      assumptions: { payoutFieldsAsSent: ["payout_id"] },
    });
    expect(assumed).not.toHaveProperty("contradiction");
  });

  it("is what was sent where nothing says otherwise", async () => {
    expect(await checkAnswered({ amount: "50" })).not.toHaveProperty("contradiction");
  });
});

describe("awaitVerification", () => {
  const poll = (card_holder_id: string) =>
    run(made.activities.awaitVerification, { card_holder_id, ...pace });

  it.each([
    ["SUCCESS", "verified"],
    ["FAILED", "refused"],
    ["INCOMPLETE", "incomplete"],
  ] as const)("ends with %s as %s", async (status, outcome) => {
    const card_holder_id = await newCardholder();
    await simulator.setVerification(card_holder_id, status);
    expect(await poll(card_holder_id)).toMatchObject({
      outcome,
      cardholder: { card_holder_id, card_holder_status: status },
    });
  });

  it("goes on while the check is pending, or the list does not show the cardholder yet", async () => {
    expect(await failureOf(poll(await newCardholder()))).toMatchObject({
      type: NOT_YET,
      message: "The cardholder is PENDING.",
    });
    expect(await failureOf(poll("cardholder-of-a-list-that-lags"))).toMatchObject({
      type: NOT_YET,
      message: "The cardholder is not in the list yet.",
    });
  });

  it("says so where the list shows no status", async () => {
    const row = { card_holder_id: "h-1", card_holder_status: null, create_time: "" };
    const service = await startRawService(() =>
      success({ total_item: 1, total_page: 1, item_list: [row] }),
    );
    const { activities, close } = activitiesFor(service.url);
    try {
      const polled = run(activities.awaitVerification, { card_holder_id: "h-1", ...pace });
      expect(await failureOf(polled)).toMatchObject({
        type: NOT_YET,
        message: "The cardholder is listed without a status.",
      });
    } finally {
      await close();
      await service.stop();
    }
  });

  it("ends where a run of the same id has removed the cardholder: no list will show them", async () => {
    const card_holder_id = await newCardholder();
    await run(made.activities.removeCardholder, { card_holder_id });
    const removed = { outcome: "removed", cardholder: null };
    expect(await poll(card_holder_id)).toEqual(removed);
    expect(await run(made.activities.checkCardholder, { card_holder_id })).toEqual(removed);
  });

  it("takes the endings from the assumptions", async () => {
    await end();
    await begin({}, { assumptions: { cardholderVerifiedStatuses: ["INCOMPLETE"] } });
    const card_holder_id = await newCardholder();
    await simulator.setVerification(card_holder_id, "INCOMPLETE");
    expect(await poll(card_holder_id)).toMatchObject({ outcome: "verified" });
    await simulator.setVerification(card_holder_id, "SUCCESS");
    expect(await failureOf(poll(card_holder_id))).toMatchObject({ type: NOT_YET });
  });
});

describe("funds", () => {
  const usd = (amount: string) => ({ currency: "USD", amount });

  it.each([
    ["100.00", "100"],
    ["100", "100.00"],
    ["100.00", "99.995"],
    ["0.30", "0.3"],
    ["90071992547409.93", "90071992547409.93"],
  ])("a balance of %s is enough for %s", async (available, needed) => {
    await end();
    await begin({ balances: { USD: available } });
    const seen = await run(made.activities.awaitFunds, { ...usd(needed), ...pace });
    expect(seen).toMatchObject({ isEnough: true, balance: { currency: "USD" } });
    expect(await run(made.activities.checkFunds, usd(needed))).toEqual(seen);
  });

  it.each([
    ["1,000.00", "999.99", true],
    ["1,000.00", "1000.01", false],
    ["1,234,567", "1234567", true],
    ["1 234 567.5", "1234567.50", true],
    ["1.234.567,50", "1234567.50", true],
    ["10'000'000.00", "10000000.00", true],
    ["10’000’000.00", "10000000.01", false],
    ["1.234", "2", false],
    ["plenty", "1", false],
  ])("a balance of %s holds %s: %s", async (available_balance, needed, isEnough) => {
    const service = await startRawService(() =>
      success({ balance_id: "b-1", currency: "USD", available_balance }),
    );
    const { activities, close } = activitiesFor(service.url);
    try {
      expect(await run(activities.checkFunds, usd(needed))).toMatchObject({ isEnough });
    } finally {
      await close();
      await service.stop();
    }
  });

  it.each([
    ["99.99", "99.995"],
    ["99.99", "100"],
    ["90071992547409.92", "90071992547409.93"],
    ["0", "0.01"],
  ])("a balance of %s is not enough for %s", async (available, needed) => {
    await end();
    await begin({ balances: { USD: available } });
    const failure = await failureOf(run(made.activities.awaitFunds, { ...usd(needed), ...pace }));
    expect(failure).toMatchObject({ type: NOT_YET, category: ApplicationFailureCategory.BENIGN });
    expect(failure.message).toContain(`${needed} is needed`);
    expect(await run(made.activities.checkFunds, usd(needed))).toMatchObject({ isEnough: false });
  });
});

describe("an error while looking says nothing about what is awaited", () => {
  const waits = {
    awaitPayoutEnd: ["retrievePayout", { payout_id: "payout-1", ...pace }],
    awaitVerification: ["listCardholders", { card_holder_id: "cardholder-1", ...pace }],
    awaitFunds: ["retrieveBalance", { currency: "USD", amount: "1.00", ...pace }],
  } as const;
  const faults = {
    Refused: "refusal-in-200",
    OutcomeUnknown: "html-502",
    RateLimited: "rate-limited",
  } as const;

  it.each(
    Object.entries(waits).flatMap(([wait, [operation, input]]) =>
      Object.entries(faults).map(([type, kind]) => ({ wait, operation, input, type, kind })),
    ),
  )("$wait goes on after $type", async ({ wait, operation, input, type, kind }) => {
    await simulator.addFault({ kind, operation });
    // Each activity gets its own input.
    const activity = made.activities[wait as keyof typeof waits] as (
      given: unknown,
    ) => Promise<unknown>;
    expect(await failureOf(run(activity, input))).toMatchObject({ type, nonRetryable: false });
  });

  it("but an input that cannot be asked for ends the wait", async () => {
    const failure = await failureOf(
      run(made.activities.awaitPayoutEnd, { payout_id: "../payout", ...pace }),
    );
    expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
  });
});
