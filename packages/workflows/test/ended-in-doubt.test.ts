import type { PaymentsActivities } from "@durable-payments/activities";
import { PAYMENT_IDS, PAYMENT_IN_DOUBT } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { describe, expect, it } from "vitest";
import { onboardCardholder, payout } from "../src/index.ts";
import { createTwoAtOnce } from "./support/create-two-at-once.ts";
import { decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { onboardInput, payoutInput } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { untilAsked } from "./support/until.ts";

const rig = useRig(localRig);
const service = useService({ verifyAfter: 0 }, { assumptions: { listLagSeconds: 0 } });

/** Sends, and loses the answer so that only a person can know. */
const losing = (): PaymentsActivities => ({
  ...service.activities,
  createCard: async (...input) => {
    await service.activities.createCard(...input);
    throw ApplicationFailure.nonRetryable("the answer was lost", "UnexpectedAnswer");
  },
});

const attributesOf = async (handle: WorkflowHandle) => {
  const { typedSearchAttributes } = await handle.describe();
  return {
    inDoubt: typedSearchAttributes.get(PAYMENT_IN_DOUBT),
    marks: (typedSearchAttributes.get(PAYMENT_IDS) ?? []).filter((id) => id.startsWith("intent:")),
  };
};

describe("a card whose answer was lost", () => {
  it.each([
    ["cancelled", (handle: WorkflowHandle) => handle.cancel(), undefined],
    [
      "abandoned",
      (handle: WorkflowHandle) => decide(handle, { by: "Eve", abandon: "enough" }),
      "Abandoned",
    ],
  ])(
    "makes a run that is %s fail, and say what is in doubt and what to do",
    async (_, end, causeType) => {
      await withWorker(rig, losing(), async ({ start }) => {
        const options = { onFailure: "compensate" } as const;
        const handle = await start(onboardCardholder, [{ ...onboardInput, options }]);
        await untilAsked(handle);
        expect(await attributesOf(handle)).toMatchObject({ inDoubt: "issueCard" });
        await end(handle);
        const failure = await failureOf(handle.result());
        expect(failure).toMatchObject({
          type: "EndedInDoubt",
          nonRetryable: true,
          details: [
            {
              inDoubt: [
                {
                  step: "issueCard",
                  operation: "createCard",
                  amount: "100.00",
                  currency: "USD",
                  key: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
                },
              ],
              leftOver: [expect.stringContaining("cancel the card") as unknown],
            },
          ],
        });
        expect(failure.message).toContain("issueCard (createCard, 100.00 USD, key ");
        expect(failure.message).toContain(`(npx @durable-payments/cli settle ${handle.workflowId}`);
        const { cause } = failure;
        expect(cause instanceof ApplicationFailure ? cause.type : undefined).toBe(causeType);
        const described = await attributesOf(handle);
        expect(described.inDoubt).toBe("issueCard");
        expect(described.marks).toHaveLength(1);
        expect((await handle.describe()).status.name).toBe("FAILED");
        // It stands: that is what the run cannot know.
        expect((await service.simulator.state()).cards).toHaveLength(1);
      });
    },
  );
});

describe("a run whose history was put back to before it paid", () => {
  it("says what the journal has of it when it is cancelled before it learns of it", async () => {
    const forgotten = {
      step: "createPayout",
      operation: "createPayout",
      key: "key-1",
      amount: "250.00",
      currency: "USD",
      ids: { payout_id: "P-1", beneficiary_id: "B-1" },
    };
    const made = { payout_id: "P-1" };
    const begunAt = Date.now();
    const isHeldBack = Promise.withResolvers<void>();
    const activities: Partial<PaymentsActivities> = {
      ...service.activities,
      createPayout: async () => {
        throw ApplicationFailure.nonRetryable("paused", "Paused");
      },
      awaitResume: async () => {
        isHeldBack.resolve();
        const { cancelled, heartbeat } = Context.current();
        const heart = setInterval(heartbeat, 200);
        await cancelled.finally(() => clearInterval(heart));
      },
      findForgottenSends: async (known) => {
        // A send that was paused is not in the journal: what has its number there is another.
        expect(known).toEqual({ createBeneficiary: Number.MAX_SAFE_INTEGER });
        return [{ ...forgotten, made, begunAt }];
      },
    };
    await withWorker(rig, activities, async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      await isHeldBack.promise;
      await handle.cancel();
      const failure = await failureOf(handle.result());
      expect(failure).toMatchObject({
        type: "EndedInDoubt",
        details: [{ inDoubt: [forgotten], ids: forgotten.ids }],
      });
      expect(failure.message).toContain("payout_id P-1, as the journal has it");
      expect(await attributesOf(handle)).toEqual({ inDoubt: "createPayout", marks: [] });
      const { typedSearchAttributes } = await handle.describe();
      const ids = typedSearchAttributes.get(PAYMENT_IDS);
      expect(ids).toEqual(
        expect.arrayContaining(["P-1", "payout:P-1", "B-1", "key-1", "key:key-1"]),
      );
      // It has paid to it, and not made it.
      expect(ids).not.toContain("beneficiary:B-1");
    });
  });
});

describe("a run with nothing in doubt", () => {
  it("that is abandoned after a refusal is just abandoned, and leaves no mark", async () => {
    await service.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await withWorker(rig, service.activities, async ({ start }) => {
      const options = { onRefusal: "ask" } as const;
      const handle = await start(payout, [{ ...payoutInput, options }]);
      await untilAsked(handle);
      await decide(handle, { by: "Eve", abandon: "enough" });
      expect(await failureOf(handle.result())).toMatchObject({ type: "Abandoned" });
      expect(await attributesOf(handle)).toEqual({ inDoubt: undefined, marks: [] });
    });
  });

  it("leaves no mark of a step that was not accepted while another one failed", async () => {
    const isTurnedAway = Promise.withResolvers<void>();
    const createPayout: PaymentsActivities["createPayout"] = async ({ amount }) => {
      if (amount === "75.00") {
        isTurnedAway.resolve();
        throw ApplicationFailure.nonRetryable("out of reach", "Unavailable");
      }
      await isTurnedAway.promise;
      throw ApplicationFailure.nonRetryable("no", "Refused");
    };
    await withWorker(rig, { ...service.activities, createPayout }, async ({ start }) => {
      const payment = { ...payoutInput.payout, beneficiary_id: "b-1" };
      const handle = await start(createTwoAtOnce, [payment, { ...payment, amount: "75.00" }]);
      expect(await failureOf(handle.result())).toMatchObject({ type: "Refused" });
      expect(await attributesOf(handle)).toEqual({ inDoubt: undefined, marks: [] });
    });
  });

  it("shows what is being sent, and that it is known, without an additional event", async () => {
    const sent = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const createPayout = async (...input: Parameters<PaymentsActivities["createPayout"]>) => {
      const activity = Context.current();
      const heart = setInterval(() => activity.heartbeat(), 1_000);
      const made = await service.activities.createPayout(...input);
      await service.simulator.setPayoutStatus(made.payout_id, "completed");
      sent.resolve();
      await answered.promise;
      clearInterval(heart);
      return made;
    };
    await withWorker(rig, { ...service.activities, createPayout }, async ({ start }) => {
      const created = await service.client.createBeneficiary(payoutInput.beneficiary);
      const { beneficiary_id } = created;
      const handle = await start(payout, [{ beneficiary_id, payout: payoutInput.payout }]);
      await sent.promise;
      expect(await attributesOf(handle)).toMatchObject({ inDoubt: "createPayout" });
      answered.resolve();
      await handle.result();
      expect(await attributesOf(handle)).toEqual({ inDoubt: undefined, marks: [] });
      const { events } = await handle.fetchHistory();
      const written = events?.filter((e) => e.upsertWorkflowSearchAttributesEventAttributes);
      expect(written).toHaveLength(2);
    });
  });
});
