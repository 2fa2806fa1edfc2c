import type { Input } from "@durable-payments/api-core";
import { type Journal, JournalUnavailable, makeMemoryJournal } from "@durable-payments/journal";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  activitiesFor,
  activitiesOver,
  environment,
  errorIn,
  failureOf,
  run,
  START,
} from "./support/activities.ts";
import type { RunStart } from "../src/index.ts";
import { beneficiary, card, payout } from "./support/bodies.ts";
import { type RawService, refusal, startRawService, success } from "./support/raw-service.ts";

let service: RawService;
let made: ReturnType<typeof activitiesFor>;
beforeEach(async () => {
  service = await startRawService(() => refusal("It was sent."));
  made = activitiesFor(service.url, {}, { approveAbove: { USD: "100.00" } });
});
afterEach(async () => {
  await made.close();
  await service.stop();
});

const above = { ...payout, amount: "100.01" };
const send = { step: "createPayout", number: 1 } as const;

const pay = (input: Input<"createPayout">, more: object = {}) =>
  failureOf(environment().run(made.activities.createPayout, input, { ...send, ...more }));

const planned = (input: Input<"createPayout">) => ({ operation: "createPayout", input }) as const;

/** As the code of a run does once a person has approved it. */
const prove = (input: Input<"createPayout">) => {
  const approved = { firstRunId: START.firstRunId, requests: [planned(input)] };
  return run(made.activities.proveApproval, approved, { isLocal: true });
};

const withdrawal = {
  card_id: "card-1",
  card_number: "4111111111111111",
  amount: "100.01",
  unique_request_id: "key-1",
};

describe("what no second person has approved", () => {
  it("is not sent above the limit of its currency, nor in one without a limit", async () => {
    const failures = [
      await pay(above),
      await pay({ ...payout, amount: "0.01", currency: "EUR" }),
      await pay({ ...payout, amount: "50.00" }, { approveAbove: "49.99" }),
      await failureOf(run(made.activities.createCard, { ...card, card_limit: "100.01" })),
      await failureOf(run(made.activities.withdrawFromCard, withdrawal)),
    ];
    for (const failure of failures) {
      expect(failure).toMatchObject({ type: "NeedsApproval", nonRetryable: true });
    }
    expect(failures.map(({ details }) => details?.[0])).toEqual([
      { why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)" },
      { why: "in EUR, which PAYMENTS_APPROVE_ABOVE does not list" },
      { why: "above 49.99" },
      { why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)" },
      { why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)" },
    ]);
    expect(service.received).toEqual([]);
  });

  it("is sent up to it", async () => {
    expect(await pay({ ...payout, amount: "100.00" })).toMatchObject({ type: "Refused" });
    // A run raises nothing.
    expect(await pay(above, { approveAbove: "5000" })).toMatchObject({ type: "NeedsApproval" });
  });

  it("is sent once it is proved to be approved; no proof is one that a worker has not made", async () => {
    const [approval] = await prove(above);
    expect(await pay(above, { approvedBy: "Bob", approval })).toMatchObject({ type: "Refused" });
    expect(await pay(above, { approvedBy: "Bob" })).toMatchObject({ type: "NeedsApproval" });
    for (const other of ["", ".", "x", "A".repeat(43)]) {
      expect(await pay(above, { approval: other })).toMatchObject({ type: "NeedsApproval" });
      expect(await pay(above, { approvedBy: "Bob", approval: other })).toMatchObject({
        type: "NeedsApproval",
      });
    }
  });
});

describe("an approved payout to a beneficiary that is created first", () => {
  const other = "33333333-3333-4333-8333-333333333333";
  const approvedFor = { operation: "createBeneficiary", input: beneficiary } as const;
  const { beneficiary_id: _, ...rest } = above;
  const toBeNamed = { operation: "createPayout", input: rest, later: ["beneficiary_id"] } as const;
  const details = {
    ...beneficiary,
    account_currency_code: beneficiary.account_currency,
    bank_country_code: beneficiary.bank_country,
  };
  let simulated: Simulator;
  let journal: Journal;
  let over: ReturnType<typeof activitiesOver>;
  beforeEach(async () => {
    simulated = await startSimulator({ balances: { USD: "1000.00" } });
    journal = makeMemoryJournal();
    over = activitiesOver(simulated, {}, { approveAbove: { USD: "100.00" }, journal });
  });
  afterEach(async () => {
    await over.close();
    await simulated.stop();
  });
  const create = (input: Input<"createBeneficiary">) =>
    run(over.activities.createBeneficiary, input);
  const payTo = async (
    beneficiary_id: string,
    activities = over.activities,
    claimed: { readonly input?: object } = {},
  ) => {
    const approved = { firstRunId: START.firstRunId, requests: [approvedFor, toBeNamed] };
    const [, approval = ""] = await run(activities.proveApproval, approved, { isLocal: true });
    return await environment().run(
      activities.createPayout,
      { ...above, beneficiary_id },
      {
        ...send,
        approvedBy: "Bob",
        approvedLater: toBeNamed.later,
        approval,
        approvedFor: { ...approvedFor, ...claimed },
      },
    );
  };

  it("is sent to the one that the journal has as made of it, which need not be shown", async () => {
    const { beneficiary_id } = await create(beneficiary);
    await simulated.addFault({ kind: "refusal-in-200", operation: "retrieveBeneficiary" });
    expect(await payTo(beneficiary_id)).toMatchObject({ currency: "USD" });
  });

  it("is not sent where the service shows another account of it by now", async () => {
    const { beneficiary_id } = await create(beneficiary);
    const { iban: _, ...rest } = beneficiary;
    const changed = { account_holder: "Mallory", account_number: "66666666", clearing_system: "" };
    await run(over.activities.updateBeneficiary, { ...rest, ...changed, beneficiary_id });
    expect(await failureOf(payTo(beneficiary_id))).toMatchObject({ type: "NeedsApproval" });
  });

  it("is sent to no other one: made of another request, or of another run", async () => {
    const amended = await create({ ...beneficiary, iban: "DE02120300000000202051" });
    for (const id of [amended.beneficiary_id, other]) {
      const failure = await failureOf(payTo(id));
      expect(failure).toMatchObject({ type: "NeedsApproval" });
      expect(failure.message).toContain("not known to be for what was approved with it");
    }
    const claimed = { input: { ...beneficiary, iban: "DE02120300000000202051" } };
    const failure = await failureOf(payTo(amended.beneficiary_id, over.activities, claimed));
    expect(failure).toMatchObject({ type: "NeedsApproval" });
    expect((await simulated.state()).payouts).toEqual([]);
  });

  it("is sent, without a journal that knows, where the service shows all of it as it was approved", async () => {
    const { beneficiary_id } = await create(beneficiary);
    const anew = activitiesOver(simulated, {}, { approveAbove: { USD: "100.00" } });
    expect(await payTo(beneficiary_id, anew.activities)).toMatchObject({ currency: "USD" });
    await anew.close();
    const masked = { ...details, iban: "****3000" };
    service = await startRawService(() =>
      success({ beneficiary_id, beneficiary_bank_details: masked }),
    );
    const unread = activitiesFor(service.url, {}, { approveAbove: { USD: "100.00" } });
    expect(await failureOf(payTo(beneficiary_id, unread.activities))).toMatchObject({
      type: "NeedsApproval",
    });
    await unread.close();
  });

  it("is certainly not sent where neither can be read", async () => {
    const { beneficiary_id } = await create(beneficiary);
    vi.spyOn(journal, "find").mockImplementation(async () => {
      throw new JournalUnavailable("It is away.");
    });
    expect(await failureOf(payTo(beneficiary_id))).toMatchObject({
      type: "Unavailable",
      nonRetryable: true,
    });
  });
});

describe("the proof of an approval", () => {
  it("is one of that very request, and of nothing but what was left out of it", async () => {
    const [approval] = await prove(above);
    const approved = { approvedBy: "Bob", approval };
    for (const amount of ["100.02", "99999"]) {
      expect(await pay({ ...above, amount }, approved)).toMatchObject({ type: "NeedsApproval" });
    }
    const toOther = { ...above, beneficiary_id: "other" };
    expect(await pay(toOther, approved)).toMatchObject({ type: "NeedsApproval" });
    const later = { approvedLater: ["beneficiary_id"] };
    expect(await pay(toOther, { ...approved, ...later })).toMatchObject({ type: "NeedsApproval" });
  });

  it.each<[string, Partial<RunStart> | undefined]>([
    ["another run of the workflow id", { firstRunId: "second" }],
    ["another workflow id", { workflowId: "other" }],
    ["a run whose code workers of another task queue run", { taskQueue: "other" }],
    ["a run whose code is polled where no worker of ours polls", { taskQueue: "test/service" }],
    ["no run", undefined],
  ])("is none for %s", async (_, other) => {
    const [approval] = await prove(above);
    const readRunStart = async () => other && { ...START, ...other };
    const others = activitiesFor(
      service.url,
      {},
      { approveAbove: { USD: "100.00" }, readRunStart },
    );
    const intent = { ...send, approvedBy: "Bob", ...(approval !== undefined && { approval }) };
    const failure = await failureOf(
      environment().run(others.activities.createPayout, above, intent),
    );
    expect(failure).toMatchObject({ type: "NeedsApproval" });
    await others.close();
  });

  it("is made for the code of the worker alone: nobody can schedule it", async () => {
    const { proveApproval, proveBatch } = made.activities;
    const chunks = [{ chunk: 1, hash: "hash", payees: [], overruled: [] }];
    for (const asked of [
      run(proveApproval, { firstRunId: "first", requests: [planned(above)] }),
      run(proveBatch, { firstRunId: "first", chunks }),
    ]) {
      expect(await failureOf(asked)).toMatchObject({ type: "NotLocal", nonRetryable: true });
    }
  });

  it("where the start of the run cannot be read, it is not sent, and may be later", async () => {
    const readRunStart = () => Promise.reject(new Error("the server is away"));
    const others = activitiesFor(
      service.url,
      {},
      { approveAbove: { USD: "100.00" }, readRunStart },
    );
    const intent = { ...send, approvedBy: "Bob", approval: "x" };
    const failure = await failureOf(
      environment().run(others.activities.createPayout, above, intent),
    );
    expect(errorIn(failure)).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    await others.close();
  });
});

it("a run learns from its check that its requests need an approval", async () => {
  const check = (amount: string) =>
    run(made.activities.checkRequests, [{ ...planned({ ...payout, amount }), at: "payout" }]);
  const account = await check("100.00");
  expect(account).toEqual(expect.any(String));
  expect(await check("100.01")).toEqual({ account, approval: "needed" });
});

it.each([
  [{ amount: "100.01", currency: "USD" }, { why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)" }],
  [{ amount: "100.00", currency: "USD" }, false],
  [{ amount: "100.00", currency: "USD", limit: "99" }, {}],
  // Of a run that was begun before, whose approval is asked by its own limit alone.
  [{ amount: "100.01", limit: "1000" }, false],
])("isAbove of %j is %j", async (compared, isAbove) => {
  expect(await run(made.activities.isAbove, compared)).toEqual(isAbove);
});
