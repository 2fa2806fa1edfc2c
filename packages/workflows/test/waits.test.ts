import { createTimeSkippingEnvironment, whyNoTimeSkipping } from "@durable-payments/tools/testing";
import { CompleteAsyncError } from "@temporalio/activity";
import { ApplicationFailure, type WorkflowHandle } from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { done, made, startStubRig, type Stub, until, waiting } from "./support/stub-rig.ts";

const notYet = (nextRetryDelay: number): never => {
  throw ApplicationFailure.create({ type: "NotYet", message: "pending", nextRetryDelay });
};

const failureOf = async (handle: WorkflowHandle): Promise<ApplicationFailure> => {
  const error: unknown = await handle.result().catch((failed: unknown) => failed);
  const { cause } = error as Error;
  if (!(cause instanceof ApplicationFailure)) throw error;
  return cause;
};

describe("with time skipped", skippedBecause(whyNoTimeSkipping()), () => {
  let environment: TestWorkflowEnvironment;
  let rig: Awaited<ReturnType<typeof startStubRig>>;
  beforeAll(async () => {
    environment = await createTimeSkippingEnvironment();
    rig = await startStubRig(environment);
  }, 60_000);
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await environment.teardown();
  });

  const payout = (outcome: string, payout_id = "p-1") => ({
    payout_id,
    outcome,
    payout_status: outcome.toUpperCase(),
  });

  it("a nudge that was lost costs 12 hours", async () => {
    const handle = await rig.start("pay", [], {
      stub: (called) => (called.input.call === 1 ? waiting(1) : made(called)),
    });
    await handle.result();
    const { startTime, closeTime } = await handle.describe();
    expect(closeTime?.getTime()).toBeGreaterThanOrEqual(startTime.getTime() + 12 * 3_600_000);
    expect(rig.callsOf(handle)).toHaveLength(2);
  });

  describe("a payout that is waited for", () => {
    it.each([
      ["completed", "COMPLETED"],
      ["failed", "PayoutFailed"],
    ])("ends as %s", async (outcome, result) => {
      const handle = await rig.start("waitForPayout", ["p-1"], { stub: () => payout(outcome) });
      expect(await handle.result()).toBe(result);
      expect(rig.callsOf(handle).map(({ activityId }) => activityId)).toEqual(["awaitPayout:p-1"]);
    });

    it("is looked at once more at the end of the time, and is still open only then", async () => {
      const handle = await rig.start("waitForPayout", ["p-1"], {
        stub: ({ input }) => ("mode" in input && input.mode ? payout("open") : notYet(3_600_000)),
      });
      expect(await handle.result()).toBe("PayoutStillOpen");
      const calls = rig.callsOf(handle);
      expect(calls.at(-1)).toMatchObject({
        activityId: "awaitPayout:p-1:look",
        input: { payout_id: "p-1", mode: "look" },
      });
      const { closeTime, startTime } = await handle.describe();
      const hours = ((closeTime?.getTime() ?? 0) - startTime.getTime()) / 3_600_000;
      expect(hours).toBeGreaterThanOrEqual(5 * 24);
      expect(hours).toBeLessThan(5 * 24 + 1);
    });

    it("may have completed in the last moment", async () => {
      const handle = await rig.start("waitForPayout", ["p-1"], {
        stub: ({ input }) =>
          "mode" in input && input.mode ? payout("completed") : notYet(3_600_000),
      });
      expect(await handle.result()).toBe("COMPLETED");
    });

    it("is not another one, whose result was delivered late", async () => {
      const handle = await rig.start("waitForPayout", ["p-1"], {
        stub: () => payout("completed", rig.callsOf(handle).length === 1 ? "p-0" : "p-1"),
        workflowId: "late-result",
      });
      expect(await handle.result()).toBe("COMPLETED");
      expect(rig.callsOf(handle)).toHaveLength(2);
    });

    it("that is not what was sent fails the step", async () => {
      const stub: Stub = (called) =>
        called.type === "awaitPayout"
          ? {
              ...payout("completed", "payout of deposit"),
              contradiction: "2.00 EUR instead of 1.00 EUR",
            }
          : made(called);
      const handle = await rig.start("payOrder", ["18"], { stub });
      const failure = await failureOf(handle);
      expect(failure).toMatchObject({ type: "PayoutDiffers" });
      expect(rig.callsOf(handle, "undo")).toEqual([]);
      expect(rig.callsOf(handle, "awaitPayout")[0]?.input).toEqual({
        payout_id: expect.any(String),
      });
    });

    it("is completed by the id of its activity", async () => {
      const handle = await rig.start("waitForPayout", ["p-1"], {
        stub: () => {
          throw new CompleteAsyncError();
        },
      });
      await until(() => rig.callsOf(handle).length === 1);
      const activityId = "awaitPayout:p-1";
      await until(() =>
        environment.client.activity
          .complete({ workflowId: handle.workflowId, activityId }, payout("completed"))
          .then(
            () => true,
            () => false,
          ),
      );
      expect(await handle.result()).toBe("COMPLETED");
    });
  });

  describe("a payout that may come back", () => {
    const seen = { payout_id: "p-1", payout_status: "reversed", seen_at: "2026-12-01T00:00:00Z" };

    it.each(["returned", "failed"])(
      "answers what came back (%s), and throws nothing",
      async (outcome) => {
        const handle = await rig.start("waitForReturn", ["p-1"], {
          stub: () => ({ ...seen, outcome }),
        });
        const answer = { ...seen, outcome };
        expect(await handle.result()).toEqual([answer, answer]);
        expect(rig.callsOf(handle).map(({ activityId }) => activityId)).toEqual([
          "awaitReturn:p-1",
        ]);
      },
    );

    it("is looked at once more at the end of the time, and answers nothing if it has not", async () => {
      const handle = await rig.start("waitForReturn", ["p-1"], {
        stub: ({ input }) =>
          "mode" in input && input.mode ? { ...seen, outcome: "open" } : notYet(6 * 3_600_000),
      });
      expect(await handle.result()).toBe("kept");
      expect(rig.callsOf(handle).at(-1)).toMatchObject({ activityId: "awaitReturn:p-1:look" });
      const { closeTime, startTime } = await handle.describe();
      const days = ((closeTime?.getTime() ?? 0) - startTime.getTime()) / 86_400_000;
      // The time-skipping server ends an activity up to one delay early.
      expect(days).toBeGreaterThanOrEqual(20);
      expect(days).toBeLessThan(20.1);
    });

    it("is completed by the id of its activity", async () => {
      const handle = await rig.start("waitForReturn", ["p-1"], {
        stub: () => {
          throw new CompleteAsyncError();
        },
      });
      await until(() => rig.callsOf(handle).length === 1);
      const activityId = "awaitReturn:p-1";
      await until(() =>
        environment.client.activity
          .complete({ workflowId: handle.workflowId, activityId }, { ...seen, outcome: "returned" })
          .then(
            () => true,
            () => false,
          ),
      );
      expect(await handle.result()).toMatchObject([{ outcome: "returned" }, { payout_id: "p-1" }]);
    });
  });

  it.each(["refused", "incomplete", "removed", "open"])(
    "a cardholder whose check ends as %s is not verified",
    async (outcome) => {
      const handle = await rig.start("verify", ["c-1"], {
        stub: ({ input }) =>
          outcome === "open" && !("mode" in input)
            ? notYet(3_600_000)
            : { card_holder_id: "c-1", outcome },
      });
      const failure = await failureOf(handle);
      expect(failure).toMatchObject({ type: "NotVerified" });
      expect(failure.details?.[0]).toMatchObject({ reason: outcome });
      expect(failure.message.includes("a retry is useful once it has passed")).toBe(
        outcome === "incomplete",
      );
    },
  );

  it("two waits for the same funds share an activity", async () => {
    const funds = { currency: "USD", amount: "100.00", outcome: "enough", balance_id: "usd-1" };
    const handle = await rig.start("waitForFunds", [], { stub: () => funds });
    expect(await handle.result()).toEqual(["usd-1", "usd-1"]);
    expect(rig.callsOf(handle).map(({ activityId }) => activityId)).toEqual([
      "awaitFunds:USD 100.00",
    ]);
  });

  it("a balance that the service does not have is created", async () => {
    let isThere = false;
    const stub: Stub = ({ type }) => {
      if (type === "createBalance") {
        isThere = true;
        return done({ balance_id: "chf-1" });
      }
      if (!isThere) throw ApplicationFailure.nonRetryable("No such balance.", "Refused");
      return { balance_id: "chf-1" };
    };
    const handle = await rig.start("balanceOf", ["CHF"], { stub });
    expect(await handle.result()).toBe("chf-1");
    expect(rig.callsOf(handle, "createBalance")[0]?.input).toMatchObject({
      step: "createBalance CHF",
      request: { currency: "CHF", name: "CHF" },
    });
  });

  it("funds of a balance that the service does not have are waited for once it is created", async () => {
    let isThere = false;
    const stub: Stub = ({ type }) => {
      if (type === "createBalance") {
        isThere = true;
        return done({ balance_id: "usd-1" });
      }
      if (!isThere) throw ApplicationFailure.nonRetryable("No such balance.", "Refused");
      return { currency: "USD", amount: "100.00", outcome: "enough", balance_id: "usd-1" };
    };
    const handle = await rig.start("waitForFunds", [], { stub });
    expect(await handle.result()).toEqual(["usd-1", "usd-1"]);
    expect(rig.callsOf(handle).map(({ type }) => type)).toEqual([
      "awaitFunds",
      "createBalance",
      "awaitFunds",
    ]);
  });

  describe("the input of a definition", () => {
    const payoutOf = { amount: "1.00", currency: "EUR" };
    it.each<[string, unknown, ReadonlyArray<string>]>([
      ["payout", null, ["input must be an object"]],
      ["payout", { payout: payoutOf }, ["beneficiary or beneficiary_id is required, but not both"]],
      [
        "payout",
        {
          beneficiary: {},
          beneficiary_id: "",
          payout: "1.00",
          paid: true,
          options: { approval: { above: 5 }, completeWithin: "soon", onRefusal: "ask" },
        },
        [
          "beneficiary or beneficiary_id is required, but not both",
          "input.beneficiary_id must be a text",
          "input.payout must be an object",
          "input.paid is unknown",
          "input.options.approval.above must be an amount",
          "input.options.completeWithin must be a duration",
          "input.options.onRefusal is unknown",
        ],
      ],
      [
        "onboardCardholder",
        { card_holder_id: "c-1", card: { card_limit: "much" }, options: { onFailure: "retry" } },
        [
          "input.card.product_code is missing",
          "input.card.card_limit must be an amount",
          "input.options.onFailure must be keep or compensate",
        ],
      ],
    ])("%s of %j fails with every fault, and sends nothing", async (type, input, faults) => {
      const handle = await rig.start(type, [input]);
      const failure = await failureOf(handle);
      expect(failure.type).toBe("InvalidRequest");
      for (const fault of faults) expect(failure.message).toContain(fault);
      expect(rig.callsOf(handle)).toEqual([]);
    });
  });

  describe("an onboarding that fails", () => {
    const stub: Stub = ({ type }) => {
      if (type === "createCardholder") return done({ card_holder_id: "c-1" });
      if (type === "awaitVerification") return { card_holder_id: "c-1", outcome: "verified" };
      if (type === "awaitFunds") {
        return { currency: "USD", amount: "50", outcome: "enough", balance_id: "usd-1" };
      }
      if (type === "undo") return done({});
      throw ApplicationFailure.nonRetryable("No such product.", "Refused");
    };
    const input = { cardholder: {}, card: { product_code: "X", card_limit: "50" } };

    it.each([
      ["keeps what it made", {}, []],
      [
        "undoes it, the last first, and names what each step has returned",
        { onFailure: "compensate" },
        [
          ["createCard", undefined],
          ["createCardholder", { card_holder_id: "c-1" }],
        ],
      ],
    ])("%s", async (_, options, undone) => {
      const handle = await rig.start("onboardCardholder", [{ ...input, options }], { stub });
      expect((await failureOf(handle)).type).toBe("Refused");
      expect(rig.callsOf(handle, "undo").map(({ input: { made, step } }) => [step, made])).toEqual(
        undone,
      );
      // The outcomes that the activity compares with the ledger: of steps, and of waits that decide about money.
      const believed = [
        { step: "createCardholder", operation: "createCardholder", ids: ["c-1"] },
        { wait: "awaitVerification:c-1", outcome: "verified" },
      ];
      expect(rig.callsOf(handle, "createCard")[0]?.input.believed).toEqual(believed);
      const refused = { step: "createCard", operation: "createCard", outcome: "Refused" };
      for (const { input: call } of rig.callsOf(handle, "undo"))
        expect(call.believed).toEqual([...believed, refused]);
    });
  });
});
