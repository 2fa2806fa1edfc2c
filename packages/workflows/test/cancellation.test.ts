import {
  type PaymentsActivities,
  RUN_CANCELLING,
  type SendIntent,
} from "@durable-payments/activities";
import { auditQuery, progressQuery } from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { Context } from "@temporalio/activity";
import { WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { describe, expect, it, vi } from "vitest";
import { onboardCardholder, payout } from "../src/index.ts";
import { useRig, useService } from "./support/hooks.ts";
import { beneficiary, onboardInput, payoutInput } from "./support/inputs.ts";
import { reconciliationIn } from "./support/reconciliation.ts";
import { payBack } from "./support/pay-back.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";
import { untilStage } from "./support/until.ts";

const skipped = timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`;

describe.skipIf(!timeSkipping.available)(`a run that is cancelled${skipped}`, () => {
  const rig = useRig(timeSkippingRig);
  const service = useService({ verifyAfter: 0 });

  const activities = (changes: Partial<PaymentsActivities> = {}) => ({
    ...service.activities,
    ...reconciliationIn(service.simulator),
    ...changes,
  });

  const expectCancelled = async (result: Promise<unknown>): Promise<void> => {
    const error: unknown = await result.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    expect((error as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
  };

  it("while a payment is being sent awaits what becomes of it, and knows the payment", async () => {
    const sent = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const createPayout: PaymentsActivities["createPayout"] = async (input) => {
      const activity = Context.current();
      const heart = setInterval(() => activity.heartbeat(), 100);
      try {
        const made = await service.activities.createPayout(input);
        sent.resolve();
        await Promise.race([activity.cancelled, answered.promise]);
        return made;
      } finally {
        clearInterval(heart);
      }
    };
    await withWorker(rig, activities({ createPayout }), async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      await sent.promise;
      await handle.cancel();
      // The query is answered once the run has received its cancellation.
      expect((await handle.query(progressQuery)).stage).toBe("createPayout");
      answered.resolve();
      await expectCancelled(handle.result());
      const { payouts } = await service.simulator.state();
      const { ids, stage } = await handle.query(progressQuery);
      expect(payouts.map(({ payout_id }) => payout_id)).toEqual([ids["payout_id"]]);
      expect(stage).toBe("cancelled");
    });
  });

  const lost = async (kind: "dropped" | "dropped-before") => {
    await service.simulator.addFault({ kind, operation: "createPayout" });
    return withWorker(rig, activities(), async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      await vi.waitFor(
        async () => {
          const { steps } = await handle.query(progressQuery);
          expect(steps.at(-1)?.note).toContain("reconciling it");
        },
        { timeout: 120_000 },
      );
      await handle.cancel();
      await expectCancelled(handle.result());
      return handle.query(progressQuery);
    });
  };

  it("while a payment without an answer is reconciled goes on until it is found", async () => {
    const { ids } = await lost("dropped");
    const { payouts } = await service.simulator.state();
    expect(payouts.map(({ payout_id }) => payout_id)).toEqual([ids["payout_id"]]);
  });

  it("does not send a payment again that was not carried out", async () => {
    const { ids } = await lost("dropped-before");
    expect(ids["payout_id"]).toBeUndefined();
    expect((await service.simulator.state()).payouts).toEqual([]);
    expect(await service.requests("createPayout")).toBe(1);
  });

  it("while a payment waits to be sent knows that it is not, and ends with nothing in doubt", async () => {
    const waiting = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    // As the guard of a send does when it asks after the wait.
    const createPayout: PaymentsActivities["createPayout"] = async () => {
      const activity = Context.current();
      const heart = setInterval(() => activity.heartbeat(), 100);
      waiting.resolve();
      await cancelled.promise.finally(() => clearInterval(heart));
      throw ApplicationFailure.nonRetryable("It was not sent.", RUN_CANCELLING);
    };
    await withWorker(rig, activities({ createPayout }), async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      await waiting.promise;
      await handle.cancel();
      cancelled.resolve();
      await expectCancelled(handle.result());
      expect((await handle.query(progressQuery)).stage).toBe("cancelled");
      // It knows, and has nothing to reconcile.
      const done = (await handle.query(auditQuery)).filter(({ step }) => step === "createPayout");
      expect(done.map(({ what }) => what)).toEqual([
        "intended",
        "sending",
        "not carried out",
        "cancelled",
      ]);
    });
  });

  it("sends what it does to undo, and says so to whoever asks whether it may be sent", async () => {
    const intents: Array<SendIntent | undefined> = [];
    const createPayout: PaymentsActivities["createPayout"] = (input, intent) => {
      intents.push(intent);
      return service.activities.createPayout(input, intent);
    };
    const { beneficiary_id } = await service.client.createBeneficiary(beneficiary);
    const payment = { ...payoutInput.payout, beneficiary_id };
    await withWorker(rig, activities({ createPayout }), async ({ start }) => {
      const handle = await start(payBack, [payment, { ...payment, amount: "1.00" }]);
      await untilStage(handle, "awaitPayout");
      await handle.cancel();
      await expectCancelled(handle.result());
    });
    expect(intents.map((intent) => [intent?.step, intent?.evenIfCancelled])).toEqual([
      ["createPayout", undefined],
      ["payBack", true],
    ]);
    expect((await service.simulator.state()).payouts).toHaveLength(2);
  });

  it("while the service turns a card away knows that there is none", async () => {
    const tooMany = { kind: "rate-limited", operation: "createCard" } as const;
    await service.simulator.addFault({ ...tooMany, seconds: 60, times: 1_000 });
    await withWorker(rig, activities(), async ({ start }) => {
      const handle = await start(onboardCardholder, [
        { ...onboardInput, options: { onFailure: "compensate" } },
      ]);
      await rig.environment.sleep("1 hour");
      await handle.cancel();
      // Not CompensationIncomplete: no card is in doubt.
      await expectCancelled(handle.result());
    });
    const { cardholders } = await service.simulator.state();
    expect(cardholders.map(({ removed }) => removed)).toEqual([true]);
  });
});
