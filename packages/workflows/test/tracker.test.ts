import {
  cardholderCheckedSignal,
  type EndedPayout,
  PAYMENT_AWAITS,
  payoutEndedSignal,
  type PayoutInput,
  progressQuery,
  trackerId,
} from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import type { WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { onboardCardholder, payout, tracker } from "../src/index.ts";
import { payTwoSuppliers } from "./examples/pay-two-suppliers.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { beneficiary, onboardInput, payoutInput } from "./support/inputs.ts";
import { payTwoAtOnce } from "./support/pay-two-at-once.ts";
import { localRig, type Queue, withWorker } from "./support/rig.ts";

const WITHIN = { timeout: 120_000, interval: 50 };

/** Most events of a payout to a beneficiary that exists, however long it waits. */
const MOST_EVENTS = 20;

const rig = useRig(localRig);
const service = useService();
let existing: Extract<PayoutInput, { readonly beneficiary_id: string }>;
beforeEach(async () => {
  const created = await service.client.createBeneficiary(beneficiary);
  existing = { beneficiary_id: created.beneficiary_id, payout: payoutInput.payout };
});

/** A tracker, while `use` runs. */
const withTracker = async (
  use: (queue: Queue, tracking: WorkflowHandle) => Promise<void>,
): Promise<void> => {
  await withWorker(rig, service.activities, async (queue) => {
    const { clientId, url } = service.simulator;
    const tracking = await queue.start(
      tracker,
      [],
      trackerId(accountHash({ clientId, baseUrl: url })),
    );
    try {
      await use(queue, tracking);
    } finally {
      await tracking.terminate();
    }
  });
};

const isAwaited = (handle: WorkflowHandle, stage = "awaitPayout") =>
  vi.waitFor(async () => {
    const { steps } = await handle.query(progressQuery);
    expect(steps.at(-1)).toMatchObject({ name: stage, status: "waiting" });
  }, WITHIN);

/** Waits until a run's first fallback poll is over: the next one is an hour away, if not set otherwise. */
const hasPolled = (handle: WorkflowHandle, poll = "awaitPayoutEnd") =>
  vi.waitFor(async () => {
    const { pendingActivities } = (await handle.describe()).raw;
    const [pending] = pendingActivities ?? [];
    expect(pending?.activityType?.name).toBe(poll);
    expect(pending?.attempt).toBeGreaterThan(1);
  }, WITHIN);

const settle = async (status: string): Promise<void> => {
  for (const { payout_id } of (await service.simulator.state()).payouts) {
    await service.simulator.setPayoutStatus(payout_id, status);
  }
};

/** Awaits payouts that are complete, and have few events. */
const expectShort = async (
  handles: ReadonlyArray<WorkflowHandle<typeof payout>>,
): Promise<void> => {
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ payout_status: "completed" });
    const { events } = await handle.fetchHistory();
    expect(events?.length).toBeLessThanOrEqual(MOST_EVENTS);
  }
};

describe("the tracker", () => {
  it("ends payouts long before their next fallback poll, in short histories", async () => {
    await withTracker(async ({ start }) => {
      const handles = await Promise.all(Array.from({ length: 5 }, () => start(payout, [existing])));
      for (const handle of handles) await hasPolled(handle);
      await settle("completed");
      await expectShort(handles);
      // Each run's first fallback poll, and the read that confirms the signal.
      expect(await service.requests("retrievePayout")).toBe(10);
    });
  });

  it("signals a payout that failed", async () => {
    await withTracker(async ({ start }) => {
      const handle = await start(payout, [existing]);
      await hasPolled(handle);
      await settle("returned");
      expect(await failureOf(handle.result())).toMatchObject({ type: "PayoutFailed" });
    });
  });

  it("signals an identity check, and the run stops to poll and to be shown", async () => {
    await withTracker(async ({ start }) => {
      const handle = await start(onboardCardholder, [onboardInput]);
      await hasPolled(handle, "awaitVerification");
      const described = await handle.describe();
      const { cardholders } = await service.simulator.state();
      const { card_holder_id } = cardholders[0]!;
      expect(described.typedSearchAttributes.get(PAYMENT_AWAITS)).toEqual([
        `cardholder:${card_holder_id}`,
      ]);
      await service.simulator.setVerification(card_holder_id, "SUCCESS");
      expect(await handle.result()).toMatchObject({ card_holder_id });
      const ended = await handle.describe();
      expect(ended.typedSearchAttributes.get(PAYMENT_AWAITS)).toBeUndefined();
      const { events } = await handle.fetchHistory();
      expect(events?.filter((e) => e.activityTaskCancelRequestedEventAttributes)).toHaveLength(1);
    });
  });

  it("signals a run for one payout after the other", async () => {
    await withTracker(async ({ start }) => {
      const first = { ...existing.payout, beneficiary_id: existing.beneficiary_id };
      const handle = await start(payTwoSuppliers, [first, { ...first, amount: "75.00" }]);
      await hasPolled(handle);
      await settle("completed");
      await isAwaited(handle, "awaitPayout (2)");
      await settle("completed");
      expect(await handle.result()).toEqual({ first: "completed", second: "completed" });
    });
  });
});

describe("two waits side by side", () => {
  it("are both signalled at once, and what has ended is shown no more", async () => {
    await withTracker(async ({ start }) => {
      const first = { ...existing.payout, beneficiary_id: existing.beneficiary_id };
      const handle = await start(payTwoAtOnce, [first, { ...first, amount: "75.00" }]);
      const awaited = async () =>
        (await handle.describe()).typedSearchAttributes.get(PAYMENT_AWAITS);
      await vi.waitFor(async () => expect(await awaited()).toHaveLength(2), WITHIN);
      const [one, two] = (await service.simulator.state()).payouts.map(
        ({ payout_id }) => payout_id,
      );
      await service.simulator.setPayoutStatus(two ?? "", "completed");
      await vi.waitFor(async () => expect(await awaited()).toEqual([`payout:${one}`]), WITHIN);
      await service.simulator.setPayoutStatus(one ?? "", "completed");
      expect(await handle.result()).toEqual(["completed", "completed"]);
    });
  });

  it("can be signalled at the same moment", async () => {
    await withTracker(async ({ start }) => {
      const first = { ...existing.payout, beneficiary_id: existing.beneficiary_id };
      const handle = await start(payTwoAtOnce, [first, { ...first, amount: "75.00" }]);
      await vi.waitFor(async () => {
        expect((await service.simulator.state()).payouts).toHaveLength(2);
      }, WITHIN);
      await settle("completed");
      expect(await handle.result()).toEqual(["completed", "completed"]);
    });
  });
});

describe("without a tracker", () => {
  it("every payout still ends, seen by the run itself", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const options = {
        pollInterval: { min: "500 milliseconds", max: "500 milliseconds" },
      } as const;
      const handles = await Promise.all(
        Array.from({ length: 3 }, () => start(payout, [{ ...existing, options }])),
      );
      for (const handle of handles) await hasPolled(handle);
      await settle("completed");
      await expectShort(handles);
    });
  });

  it("that was there and was ended, too", async () => {
    const options = { pollInterval: { min: "500 milliseconds", max: "500 milliseconds" } } as const;
    let handle: WorkflowHandle | undefined;
    await withTracker(async ({ start }) => {
      handle = await start(payout, [{ ...existing, options }]);
      await isAwaited(handle);
    });
    await withWorker(rig, service.activities, async () => {
      await settle("completed");
      expect(await handle?.result()).toMatchObject({ payout_status: "completed" });
    });
  });
});

describe("a run that waits", () => {
  const claim = async (outcome: "completed" | "failed"): Promise<EndedPayout> => {
    const {
      due_at: _,
      returned: __,
      transaction_id: ___,
      ...made
    } = (await service.simulator.state()).payouts[0]!;
    return { outcome, payout: { ...made, payout_status: outcome } };
  };

  const whenAsked = (operation: string, times: number) =>
    vi.waitFor(async () => expect(await service.requests(operation)).toBe(times), WITHIN);

  it.each(["completed", "failed"] as const)(
    "does not believe a signal that its payout has %s while the payout itself is open",
    async (outcome) => {
      await withWorker(rig, service.activities, async ({ start }) => {
        const handle = await start(payout, [existing]);
        await hasPolled(handle);
        await handle.signal(payoutEndedSignal, await claim(outcome));
        // Its first fallback poll, and the read that the signal gave cause to.
        await whenAsked("retrievePayout", 2);
        expect((await handle.query(progressQuery)).stage).toBe("awaitPayout");
        expect((await handle.describe()).status.name).toBe("RUNNING");
        // The wait goes on: what the payout itself shows is believed, whatever the signal said.
        await settle("completed");
        await handle.signal(payoutEndedSignal, await claim("failed"));
        expect(await handle.result()).toMatchObject({ payout_status: "completed" });
      });
    },
  );

  it("asks nothing for a signal that is not about its payout", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payout, [existing]);
      await hasPolled(handle);
      const { outcome, payout: made } = await claim("completed");
      const others: ReadonlyArray<unknown> = [
        undefined,
        "completed",
        { outcome },
        { outcome, payout: { ...made, payout_id: randomUUID() } },
      ];
      for (const other of others) await handle.signal("payoutEnded", other);
      // An answer to a query comes after the signals before it.
      expect((await handle.query(progressQuery)).stage).toBe("awaitPayout");
      expect(await service.requests("retrievePayout")).toBe(1);
      await handle.terminate();
    });
  });

  it("issues no card on a signal that the identity check has passed", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(onboardCardholder, [onboardInput]);
      await hasPolled(handle, "awaitVerification");
      const { card_holder_id = "" } = (await handle.query(progressQuery)).ids;
      const cardholder = { card_holder_id, card_holder_status: "SUCCESS" };
      await handle.signal(cardholderCheckedSignal, { outcome: "verified", cardholder });
      await whenAsked("listCardholders", 2);
      expect((await handle.query(progressQuery)).stage).toBe("awaitVerification");
      expect(await service.requests("createCard")).toBe(0);
      await service.simulator.setVerification(card_holder_id, "FAILED");
      await handle.signal(cardholderCheckedSignal, { outcome: "verified", cardholder });
      expect(await failureOf(handle.result())).toMatchObject({ type: "VerificationRefused" });
    });
  });

  it("reads the payout once more where the first reading fails, by another worker", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payout, [existing]);
      await hasPolled(handle);
      await settle("completed");
      await service.simulator.addFault({ kind: "html-502", operation: "retrievePayout", times: 2 });
      await handle.signal(payoutEndedSignal, await claim("completed"));
      expect(await handle.result()).toMatchObject({ payout_status: "completed" });
    });
  });

  it("takes up a signal of before it began to wait", async () => {
    let isSignalled = false;
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const activities = {
      ...service.activities,
      // The payout is made, and the run is signalled its end before it knows of its creation.
      createPayout: async (...input: Parameters<typeof service.activities.createPayout>) => {
        const created = await service.activities.createPayout(...input);
        isSignalled = true;
        await isTold;
        return created;
      },
    };
    await withWorker(rig, activities, async ({ start }) => {
      const handle = await start(payout, [existing]);
      await vi.waitFor(() => expect(isSignalled).toBe(true), WITHIN);
      await handle.signal(payoutEndedSignal, await claim("completed"));
      await settle("completed");
      resolve();
      expect(await handle.result()).toMatchObject({ payout_status: "completed" });
      expect(await service.requests("retrievePayout")).toBe(1);
    });
  });
});
