import type { PaymentsActivities } from "@durable-payments/activities";
import { PAYMENT_ACCOUNT, trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { Context } from "@temporalio/activity";
import { describe, expect, it, vi } from "vitest";
import { payout, tracker } from "../src/index.ts";
import { useRig, useService } from "./support/hooks.ts";
import { beneficiary, payoutInput } from "./support/inputs.ts";
import { payTwoAtOnce } from "./support/pay-two-at-once.ts";
import { localRig, withWorker } from "./support/rig.ts";
import type { Service } from "./support/service.ts";

const WITHIN = { timeout: 120_000, interval: 50 };

const rig = useRig(localRig);
const own = useService();
const other = useService();

const accountOf = ({ simulator: { clientId, url } }: Service) => ({ clientId, baseUrl: url });

/** Of each activity on a task queue, the first attempt goes to a worker of the other account. */
const firstElsewhere = (): PaymentsActivities => {
  const seen = new Set<string>();
  const either =
    (name: keyof PaymentsActivities) =>
    (...input: ReadonlyArray<unknown>): Promise<unknown> => {
      const { isLocal } = Context.current().info;
      const isFirst = !isLocal && !seen.has(name);
      if (!isLocal) seen.add(name);
      const { activities } = isFirst ? other : own;
      return (activities[name] as (...given: ReadonlyArray<unknown>) => Promise<unknown>)(...input);
    };
  return Object.fromEntries(
    Object.keys(own.activities).map((name) => [name, either(name as keyof PaymentsActivities)]),
    // The same activities by the same names.
  ) as unknown as PaymentsActivities;
};

describe("with workers of two accounts in one namespace", () => {
  it("a run pays from its own account and reads no other, whoever takes its activities", async () => {
    const { beneficiary_id } = await own.client.createBeneficiary(beneficiary);
    await withWorker(rig, firstElsewhere(), async ({ start }) => {
      const options = {
        pollInterval: { min: "300 milliseconds", max: "300 milliseconds" },
      } as const;
      const input = { beneficiary_id, payout: payoutInput.payout, options };
      const handle = await start(payout, [input]);
      await vi.waitFor(async () => {
        expect((await own.simulator.state()).payouts).toHaveLength(1);
      }, WITHIN);
      const [made] = (await own.simulator.state()).payouts;
      await own.simulator.setPayoutStatus(made?.payout_id ?? "", "completed");
      expect(await handle.result()).toMatchObject({ payout_status: "completed" });
      expect((await other.simulator.state()).requests).toEqual({});
      const described = await handle.describe();
      expect(described.typedSearchAttributes.get(PAYMENT_ACCOUNT)).toBe(
        accountHash(accountOf(own)),
      );
      const refused = (await handle.fetchHistory()).events?.flatMap((event) => {
        const { failure } = event.activityTaskFailedEventAttributes ?? {};
        return failure ? [failure.applicationFailureInfo?.type] : [];
      });
      // The send was refused, waited for a worker of the account, and was made once.
      expect(refused).toEqual(["OtherAccount"]);
    });
  });

  it("a run without a check of its requests is pinned before its first send, too", async () => {
    const { beneficiary_id } = await own.client.createBeneficiary(beneficiary);
    await withWorker(rig, firstElsewhere(), async ({ start }) => {
      const payment = { ...payoutInput.payout, beneficiary_id };
      const handle = await start(payTwoAtOnce, [payment, { ...payment, amount: "75.00" }]);
      await vi.waitFor(async () => {
        expect((await own.simulator.state()).payouts).toHaveLength(2);
      }, WITHIN);
      expect((await other.simulator.state()).requests).toEqual({});
      await handle.terminate();
    });
  });

  it("a tracker signals the runs of its own account, and asks its service for no others", async () => {
    const { beneficiary_id } = await own.client.createBeneficiary(beneficiary);
    const trackWaiting = (): Promise<void> => {
      const { workflowExecution } = Context.current().info;
      const isOther = workflowExecution?.workflowId === trackerId(accountHash(accountOf(other)));
      return (isOther ? other : own).activities.trackWaiting();
    };
    await withWorker(rig, { ...own.activities, trackWaiting }, async ({ start }) => {
      const trackers = await Promise.all(
        [other, own].map((service) =>
          start(tracker, [], trackerId(accountHash(accountOf(service)))),
        ),
      );
      try {
        const input = { beneficiary_id, payout: payoutInput.payout };
        const handle = await start(payout, [input]);
        await vi.waitFor(async () => {
          expect(await own.requests("listPayouts")).toBeGreaterThan(3);
        }, WITHIN);
        const [made] = (await own.simulator.state()).payouts;
        await own.simulator.setPayoutStatus(made?.payout_id ?? "", "completed");
        expect(await handle.result()).toMatchObject({ payout_status: "completed" });
        expect(await other.requests("listPayouts")).toBe(0);
      } finally {
        for (const each of trackers) await each.terminate();
      }
    });
  });
});
