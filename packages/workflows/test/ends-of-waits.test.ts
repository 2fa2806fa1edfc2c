import type { PaymentsActivities } from "@durable-payments/activities";
import {
  type OnboardCardholderOptions,
  PAYMENT_IDS,
  PAYMENT_STAGE,
} from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { beforeEach, describe, expect, it } from "vitest";
import { onboardCardholder, payout } from "../src/index.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { onboardInput, payoutInput } from "./support/inputs.ts";
import { localRig, timeSkippingRig, withWorker } from "./support/rig.ts";

const MINUTE = 60_000;

const service = useService({ balances: { USD: "1000.00" } });

describe.skipIf(!timeSkipping.available)(
  `within 45 minutes${timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`}`,
  () => {
    const rig = useRig(timeSkippingRig);
    let began: number;
    beforeEach(async () => {
      began = await rig.environment.currentTimeMs();
    });

    const minutes = async () => ((await rig.environment.currentTimeMs()) - began) / MINUTE;

    /** Whether a run has lasted as long as its one wait was to take. */
    const expectJustOver = async (handle: WorkflowHandle) => {
      const { closeTime, startTime } = await handle.describe();
      const took = (Number(closeTime) - Number(startTime)) / MINUTE;
      expect(took).toBeGreaterThanOrEqual(45);
      expect(took).toBeLessThan(46);
    };

    /** Does something before the poll that is made when the time is over. */
    const beforeTheLast = (
      name: "awaitPayoutEnd" | "awaitVerification",
      act: () => Promise<void>,
    ): PaymentsActivities => {
      const poll = async (input: never) => {
        if ((await minutes()) >= 45) await act();
        return service.activities[name](input);
      };
      return { ...service.activities, [name]: poll };
    };

    const payWithin = { ...payoutInput, options: { completeWithin: "45 minutes" } } as const;

    it("a payout that is still open is what the run returns", async () => {
      await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(payout, [payWithin]);
        expect(await handle.result()).toMatchObject({
          payout_status: "processing",
          complete_time: null,
          outcome: "open",
        });
        const { typedSearchAttributes } = await handle.describe();
        expect(typedSearchAttributes.get(PAYMENT_STAGE)).toBe("unfinished");
        await expectJustOver(handle);
      });
    });

    it.each([
      [
        "completed",
        async (result: Promise<unknown>) =>
          expect(await result).toMatchObject({ payout_status: "completed" }),
      ],
      [
        "returned",
        async (result: Promise<unknown>) =>
          expect(await failureOf(result)).toMatchObject({ type: "PayoutFailed" }),
      ],
    ])("a payout that the last poll shows as %s ends the run so", async (status, expectEnd) => {
      const activities = beforeTheLast("awaitPayoutEnd", async () => {
        const [made] = (await service.simulator.state()).payouts;
        await service.simulator.setPayoutStatus(made?.payout_id ?? "", status);
      });
      await withWorker(rig, activities, async ({ start }) => {
        const handle = await start(payout, [payWithin]);
        await expectEnd(handle.result());
        await expectJustOver(handle);
      });
    });

    it("a payout that the service reports with another amount ends no run as completed", async () => {
      const activities: PaymentsActivities = {
        ...service.activities,
        createPayout: (input, intent) =>
          service.activities.createPayout({ ...input, amount: "5.00" }, intent),
        awaitPayoutEnd: async (input) => {
          await service.simulator.setPayoutStatus(input.payout_id, "completed");
          return service.activities.awaitPayoutEnd(input);
        },
      };
      await withWorker(rig, activities, async ({ start }) => {
        const handle = await start(payout, [payWithin]);
        const failure = await failureOf(handle.result());
        const [made] = (await service.simulator.state()).payouts;
        expect(failure).toMatchObject({
          type: "PayoutContradicted",
          message: `The service reports 5.00 USD for a payout of 250.00 USD: the payout ${made?.payout_id} was created, and what it has paid, only the service can say. Do not pay it again before that is known.`,
          details: [
            {
              sent: { amount: "250.00", currency: "USD" },
              reported: { amount: "5.00", currency: "USD" },
            },
          ],
        });
        expect(await service.requests("createPayout")).toBe(1);
      });
    });

    it.each(["po\u00071", "po/1", "..", "po 1"])(
      "a payout whose id is %j was created, though nothing can be read by that id",
      async (payout_id) => {
        const activities: PaymentsActivities = {
          ...service.activities,
          createPayout: async (input, intent) => ({
            ...(await service.activities.createPayout(input, intent)),
            payout_id,
          }),
        };
        await withWorker(rig, activities, async ({ start }) => {
          const handle = await start(payout, [payWithin]);
          const failure = await failureOf(handle.result());
          expect(failure).toMatchObject({
            type: "PayoutNotReadable",
            message: expect.stringMatching(
              /^The payout .+ was created, .+ Do not pay it again/s,
            ) as unknown,
            details: [{ payout_id, sent: { amount: "250.00", currency: "USD" } }],
          });
          expect(String(failure)).not.toMatch(/nothing was sent/i);
          expect(await service.requests("createPayout")).toBe(1);
          const { typedSearchAttributes } = await handle.describe();
          expect(typedSearchAttributes.get(PAYMENT_IDS)).toContain(`payout:${payout_id}`);
        });
      },
    );

    it("the run polls by itself where no poll was made when it was over", async () => {
      const awaitPayoutEnd = async ({ payout_id }: { readonly payout_id: string }) => {
        await service.simulator.setPayoutStatus(payout_id, "returned");
        throw ApplicationFailure.create({ message: "lost", nextRetryDelay: "1 hour" });
      };
      await withWorker(rig, { ...service.activities, awaitPayoutEnd }, async ({ start }) => {
        const handle = await start(payout, [payWithin]);
        expect(await failureOf(handle.result())).toMatchObject({ type: "PayoutFailed" });
        // The server gives up at once: the next attempt would be too late.
        await expectJustOver(handle);
      });
    });

    const onboardWithin = (options: OnboardCardholderOptions) => ({ ...onboardInput, options });
    const verifyWithin = onboardWithin({ verifyWithin: "45 minutes", onFailure: "compensate" });

    it("an identity check that is still open fails, and only then is the cardholder removed", async () => {
      await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(onboardCardholder, [verifyWithin]);
        expect(await failureOf(handle.result())).toMatchObject({ type: "VerificationOverdue" });
        await expectJustOver(handle);
        expect(await service.requests("removeCardholder")).toBe(1);
      });
    });

    it("an identity check that the last poll shows as passed has passed", async () => {
      const activities = beforeTheLast("awaitVerification", async () => {
        const [made] = (await service.simulator.state()).cardholders;
        await service.simulator.setVerification(made?.card_holder_id ?? "", "SUCCESS");
      });
      await withWorker(rig, activities, async ({ start }) => {
        const handle = await start(onboardCardholder, [verifyWithin]);
        expect(await handle.result()).toMatchObject({ card_limit: "100.00" });
        await expectJustOver(handle);
      });
    });

    it("funds that are missing fail the run", async () => {
      const pollInterval = { min: "1 hour" } as const;
      await withWorker(rig, service.activities, async ({ start }) => {
        const created = await service.client.createCardholder(onboardInput.cardholder);
        await service.simulator.setVerification(created.card_holder_id, "SUCCESS");
        const card = { ...onboardInput.card, card_limit: "1000.01" };
        const options = { fundWithin: "45 minutes", pollInterval } as const;
        const handle = await start(onboardCardholder, [
          { card_holder_id: created.card_holder_id, card, options },
        ]);
        expect(await failureOf(handle.result())).toMatchObject({ type: "FundsOverdue" });
        await expectJustOver(handle);
      });
    });
  },
);

describe("on a server that keeps real time", () => {
  const rig = useRig(localRig);

  it("a wait of 3 seconds ends after 3 seconds, with a last poll", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const options = { verifyWithin: "3 seconds" } as const;
      const handle = await start(onboardCardholder, [{ ...onboardInput, options }]);
      expect(await failureOf(handle.result())).toMatchObject({ type: "VerificationOverdue" });
      const { closeTime, startTime } = await handle.describe();
      const took = Number(closeTime) - Number(startTime);
      expect(took).toBeGreaterThanOrEqual(3_000);
      expect(took).toBeLessThan(20_000);
      expect(await service.requests("listCardholders")).toBe(2);
    });
  });
});
