import { operationNames } from "@durable-payments/api-core";
import { operation } from "@durable-payments/api-core/contract";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { defaultPayloadConverter } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { activitiesFor, activitiesOver, failureOf, errorIn, run } from "./support/activities.ts";
import type { PaymentsActivities } from "../src/index.ts";
import { beneficiary, card, cardholder, payout } from "./support/bodies.ts";
import { refusal, startRawService, success } from "./support/raw-service.ts";

describe("every operation of the contract", () => {
  let simulator: Simulator;
  let activities: PaymentsActivities;
  let close: () => Promise<void>;
  beforeAll(async () => {
    simulator = await startSimulator({ verifyAfter: 0 });
    ({ activities, close } = activitiesOver(simulator));
  });
  afterAll(async () => {
    await close();
    await simulator.stop();
  });

  it("is an activity that takes and answers plain JSON", async () => {
    const called = new Set<string>();
    /** Runs the activity with what has crossed Temporal, and checks that the answer can cross, too. */
    const call = async <Name extends (typeof operationNames)[number]>(
      name: Name,
      input: Parameters<PaymentsActivities[Name]>[0],
    ): Promise<Awaited<ReturnType<PaymentsActivities[Name]>>> => {
      called.add(name);
      const crossed = defaultPayloadConverter.fromPayload<typeof input>(
        defaultPayloadConverter.toPayload(input),
      );
      // One activity of the union, and its own input.
      const activity = activities[name] as (given: typeof input) => Promise<unknown>;
      const answer = await run(activity, crossed);
      const back: unknown = defaultPayloadConverter.fromPayload(
        defaultPayloadConverter.toPayload(answer),
      );
      expect({ [name]: back }).toStrictEqual({ [name]: answer });
      return answer as Awaited<ReturnType<PaymentsActivities[Name]>>;
    };
    const firstPage = { page_num: 1, page_size: 10 };

    expect(await call("ping", {})).toEqual({ message: "pong" });
    const created = await call("createBeneficiary", beneficiary);
    // Not the account that the service repeats.
    expect(Object.keys(created)).toStrictEqual(["beneficiary_id", "beneficiary_status"]);
    const { beneficiary_id } = created;
    const { iban: _, ...described } = beneficiary;
    await call("updateBeneficiary", {
      ...described,
      beneficiary_id,
      nickname: "Supplier",
      account_number: "12345678",
      clearing_system: "SWIFT",
    });
    expect(await call("retrieveBeneficiary", { beneficiary_id })).toMatchObject({
      beneficiary_nickname: "Supplier",
    });
    const { payout_id } = await call("createPayout", { ...payout, beneficiary_id });
    expect(await call("listPayouts", firstPage)).toMatchObject({ item_list: [{ payout_id }] });
    expect(await call("retrievePayout", { payout_id })).toMatchObject({ amount: "250.00" });
    expect(await call("listPayers", {})).toHaveLength(1);
    expect(await call("createBalance", { currency: "SGD", name: "Singapore" })).toBeUndefined();
    const { balance_id } = await call("retrieveBalance", { currency: "USD" });
    const details = await call("retrieveBalanceBankDetails", { currency: "USD" });
    expect(details.local[0]).toMatchObject({ account_id: balance_id });
    expect(await call("listTransactions", firstPage)).toMatchObject({ total_page: 1 });
    const { card_holder_id } = await call("createCardholder", cardholder);
    expect(await call("listCardholders", firstPage)).toMatchObject({
      item_list: [{ card_holder_id }],
    });
    const { card_id } = await call("createCard", { ...card, card_holder_id, balance_id });
    await call("updateCard", { card_id, card_name: "Travel" });
    const [{ card_number } = { card_number: "" }] = (await simulator.state()).cards;
    const withdrawal = { card_id, amount: "10.00", unique_request_id: "withdrawal-1" };
    expect(await call("withdrawFromCard", { ...withdrawal, card_number })).toStrictEqual(
      withdrawal,
    );
    await call("freezeCard", { card_id });
    await call("cancelCard", { card_id });
    expect(await call("removeCardholder", { card_holder_id })).toBeUndefined();

    expect([...called].toSorted()).toEqual([...operationNames].toSorted());
  });
});

describe("a second attempt", () => {
  const inputs = {
    createPayout: payout,
    createCardholder: cardholder,
    createBeneficiary: beneficiary,
    createCard: card,
    withdrawFromCard: {
      card_id: "card-1",
      card_number: "4000000000000000",
      amount: "1.00",
      unique_request_id: "key-1",
    },
  } as const;

  it("is never left to Temporal for an operation that moves money or makes something", () => {
    const decidedByWorkflow = operationNames.filter((name) =>
      ["none", "keyed"].includes(operation(name).idempotency),
    );
    expect(decidedByWorkflow.toSorted()).toEqual(Object.keys(inputs).toSorted());
  });

  it.each(Object.entries(inputs))(
    "of %s sends nothing: its outcome is unknown",
    async (name, input) => {
      const service = await startRawService(() => success({}));
      const { activities, close } = activitiesFor(service.url);
      try {
        // Each activity gets its own input.
        const activity = activities[name as keyof typeof inputs] as (
          input: unknown,
        ) => Promise<unknown>;
        const failure = await failureOf(run(activity, input, { attempt: 2 }));
        expect(failure).toMatchObject({ type: "WorkerLost", nonRetryable: true });
        expect(errorIn(failure)).toMatchObject({ operation: name, carriedOut: "unknown" });
        expect(service.received).toEqual([]);
      } finally {
        await close();
        await service.stop();
      }
    },
  );

  it("of a read, or of what may be sent twice, is sent", async () => {
    const service = await startRawService(() => success());
    const { activities, close } = activitiesFor(service.url);
    try {
      await run(activities.cancelCard, { card_id: "card-1" }, { attempt: 7 });
      expect(service.received.map(({ path }) => path)).toEqual(["/cards/cancel"]);
    } finally {
      await close();
      await service.stop();
    }
  });
});

it.each([
  [1, "Refused", "no"],
  [2, "OutcomeUnknown", "unknown"],
])("a refusal of a known key at send %i of a step is %s", async (number, type, carriedOut) => {
  const service = await startRawService(() => refusal("Duplicate unique_request_id"));
  const { activities, close } = activitiesFor(service.url);
  try {
    const send = (input: Parameters<typeof activities.createCard>[0]) =>
      activities.createCard(input, { step: "createCard", number });
    const failure = await failureOf(run(send, card));
    expect(failure).toMatchObject({ type });
    expect(errorIn(failure)).toMatchObject({ operation: "createCard", carriedOut });
  } finally {
    await close();
    await service.stop();
  }
});

describe("a change that may be sent twice", () => {
  const odd = { status: 200, body: '{"code":200,"message":"Card cannot be cancelled"}' };
  it.each([
    ["a contradiction", odd, 59, false],
    ["a contradiction", odd, 60, true],
    ["a 4xx without envelope", { status: 422, body: "no" }, 59, false],
    ["a 4xx without envelope", { status: 422, body: "no" }, 60, true],
    ["a fault of the server", { status: 503, body: "busy" }, 600, false],
  ] as const)(
    "that gets %s is given up after an hour: %o at attempt %i",
    async (_, said, attempt, nonRetryable) => {
      const service = await startRawService(() => said);
      const { activities, close } = activitiesFor(service.url, { maxAttempts: 1 });
      try {
        const failure = await failureOf(
          run(activities.cancelCard, { card_id: "card-1" }, { attempt }),
        );
        expect(failure.nonRetryable === true).toBe(nonRetryable);
      } finally {
        await close();
        await service.stop();
      }
    },
  );

  it("is not a read, which is tried as long as its run waits", async () => {
    const service = await startRawService(() => ({ status: 422, body: "no" }));
    const { activities, close } = activitiesFor(service.url);
    try {
      const failure = await failureOf(
        run(activities.retrievePayout, { payout_id: "p-1" }, { attempt: 600 }),
      );
      expect(failure.nonRetryable === true).toBe(false);
    } finally {
      await close();
      await service.stop();
    }
  });
});
