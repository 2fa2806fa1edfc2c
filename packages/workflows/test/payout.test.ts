import type { PaymentsActivities } from "@durable-payments/activities";
import {
  PAYMENT_IDS,
  PAYMENT_STAGE,
  type PayoutInput,
  progressQuery,
} from "@durable-payments/protocol";
import { timeSkipping } from "@durable-payments/tools/testing";
import { describe, expect, it } from "vitest";
import { payout } from "../src/index.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";

const DAY = 24 * 60 * 60 * 1000;

describe.skipIf(!timeSkipping.available)(
  `a payout${timeSkipping.available ? "" : ` (skipped: ${timeSkipping.reason})`}`,
  () => {
    const rig = useRig(timeSkippingRig);
    const service = useService();

    /** Activities whose read of a payout is preceded by `before`, given the milliseconds since the start. */
    const looking = async (
      before: (elapsed: number, payout_id: string) => Promise<PaymentsActivities | undefined>,
    ): Promise<PaymentsActivities> => {
      const started = await rig.environment.currentTimeMs();
      return {
        ...service.activities,
        awaitPayoutEnd: async (input) => {
          const elapsed = (await rig.environment.currentTimeMs()) - started;
          const activities = await before(elapsed, input.payout_id);
          return (activities ?? service.activities).awaitPayoutEnd(input);
        },
      };
    };

    const patient = {
      ...payoutInput,
      options: { pollInterval: { min: "8 hours", max: "8 hours" } },
    } satisfies PayoutInput;

    it("that takes 20 days completes, with a short history and one payment", async () => {
      const activities = await looking(async (elapsed, id) => {
        if (elapsed >= 20 * DAY) await service.simulator.setPayoutStatus(id, "completed");
        return undefined;
      });
      await withWorker(rig, activities, async ({ start }) => {
        const handle = await start(payout, [patient]);
        const result = await handle.result();
        const { payouts, beneficiaries } = await service.simulator.state();
        expect(payouts).toHaveLength(1);
        expect(beneficiaries).toHaveLength(1);
        expect(result).toEqual({
          payout_id: payouts[0]?.payout_id,
          short_reference: payouts[0]?.short_reference,
          payout_status: "completed",
          amount: "250.00",
          currency: "USD",
          complete_time: payouts[0]?.complete_time,
          outcome: "completed",
        });
        expect(await service.requests("retrievePayout")).toBeGreaterThanOrEqual(60);
        const { events } = await handle.fetchHistory();
        expect(events?.length).toBeLessThan(40);
      });
    });

    it("that names two payees is refused, and nothing is sent", async () => {
      const two = { ...payoutInput, beneficiary_id: "ben-2" };
      await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(payout, [two]);
        expect(await failureOf(handle.result())).toMatchObject({
          type: "InvalidRequest",
          message:
            "The input has both beneficiary and beneficiary_id: exactly one of the two must be given. Nothing was sent.",
        });
        expect(await service.requests("createBeneficiary")).toBe(0);
        expect(await service.requests("createPayout")).toBe(0);
      });
    });

    it("says where it stood, after it is closed, too", async () => {
      const activities = await looking(async (_, id) => {
        await service.simulator.setPayoutStatus(id, "completed");
        return undefined;
      });
      await withWorker(rig, activities, async ({ start }) => {
        const handle = await start(payout, [payoutInput]);
        const { payout_id } = await handle.result();
        const progress = await handle.query(progressQuery);
        expect(progress).toMatchObject({ workflow: "payout", stage: "done" });
        expect(progress.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
          "checkRequests done",
          "createBeneficiary done",
          "createPayout done",
          "awaitPayout done",
        ]);
        const [made] = (await service.simulator.state()).beneficiaries;
        expect(progress.ids).toEqual({ payout_id, beneficiary_id: made?.beneficiary_id });
        const { typedSearchAttributes } = await handle.describe();
        // The step at which it ended: how it ended, Temporal shows.
        expect(typedSearchAttributes.get(PAYMENT_STAGE)).toBe("awaitPayout");
        expect(typedSearchAttributes.get(PAYMENT_IDS)).toEqual(
          expect.arrayContaining([payout_id, made?.beneficiary_id]),
        );
        const attributes = typedSearchAttributes.getAll();
        // Account numbers are nobody's business who may read runs.
        expect(JSON.stringify([progress, attributes])).not.toContain("DE89370400440532013000");
      });
    });

    it("that is not complete after 30 days is reported as it is, not as failed", async () => {
      await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(payout, [patient]);
        expect(await handle.result()).toMatchObject({
          payout_status: "processing",
          complete_time: null,
        });
        expect((await handle.describe()).status.name).toBe("COMPLETED");
      });
    });

    it("outlives a service that turns it away for a day, and is then out of reach", async () => {
      const tooMany = { kind: "rate-limited", operation: "retrievePayout" } as const;
      await service.simulator.addFault({ ...tooMany, seconds: 3600, times: 24 });
      let looksInVain = 0;
      const activities = await looking(async (elapsed, id) => {
        if (elapsed >= DAY && looksInVain < 10) {
          looksInVain += 1;
          return service.unreachable;
        }
        if (looksInVain === 10) await service.simulator.setPayoutStatus(id, "completed");
        return undefined;
      });
      await withWorker(rig, activities, async ({ start }) => {
        const handle = await start(payout, [payoutInput]);
        expect(await handle.result()).toMatchObject({ payout_status: "completed" });
        expect(await service.requests("retrievePayout")).toBe(25);
        expect((await handle.fetchHistory()).events?.length).toBeLessThan(40);
      });
    });

    it("that the service says has failed fails as PayoutFailed", async () => {
      const activities = await looking(async (_, id) => {
        await service.simulator.setPayoutStatus(id, "returned");
        return undefined;
      });
      await withWorker(rig, activities, async ({ start }) => {
        const handle = await start(payout, [payoutInput]);
        const failure = await failureOf(handle.result());
        const [made] = (await service.simulator.state()).payouts;
        expect(failure).toMatchObject({ type: "PayoutFailed", nonRetryable: true });
        expect(failure.message).toContain("ended as returned");
        expect(failure.message).toContain("to pay again, start a payout under another id");
        expect(failure.details).toEqual([
          {
            payout_id: made?.payout_id,
            payout_status: "returned",
          },
        ]);
        expect((await handle.query(progressQuery)).stage).toBe("failed");
      });
    });

    it("takes a beneficiary that exists", async () => {
      const activities = await looking(async (_, id) => {
        await service.simulator.setPayoutStatus(id, "completed");
        return undefined;
      });
      await withWorker(rig, activities, async ({ start }) => {
        await (await start(payout, [payoutInput])).result();
        const [known] = (await service.simulator.state()).beneficiaries;
        const { beneficiary: _, ...rest } = payoutInput;
        const second = await start(payout, [
          { ...rest, beneficiary_id: known?.beneficiary_id ?? "" },
        ]);
        await second.result();
        const { beneficiaries, payouts } = await service.simulator.state();
        expect(beneficiaries).toHaveLength(1);
        expect(payouts.map(({ beneficiary_id }) => beneficiary_id)).toEqual([
          known?.beneficiary_id,
          known?.beneficiary_id,
        ]);
      });
    });

    it("with a wrong input sends nothing, and names every fault", async () => {
      await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(payout, [
          {
            beneficiary: { ...payoutInput.beneficiary, city: "" },
            payout: { ...payoutInput.payout, amount: "1e3", currency: "US$" },
          },
        ]);
        const failure = await failureOf(handle.result());
        expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
        for (const fault of ["beneficiary.city", "payout.amount", "payout.currency"]) {
          expect(failure.message).toContain(fault);
        }
        const { requests } = await service.simulator.state();
        expect(requests).toEqual({});
      });
    });
  },
);
