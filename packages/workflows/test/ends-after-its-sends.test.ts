import type { PaymentsActivities } from "@durable-payments/activities";
import { progressQuery } from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { describe, expect, it, vi } from "vitest";
import { decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { payOnSignal, payOrGiveUp, paySignal } from "./support/not-awaited.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { untilAsked, WITHIN } from "./support/until.ts";

const rig = useRig(localRig);

const service = useService({ settleAfter: 0 });

const paymentOf = async () => {
  const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
  return { ...payoutInput.payout, beneficiary_id };
};

/** Sends once it is let, and may lose the answer so that only a person can know. */
const held = (isLost = false) => {
  const gate = Promise.withResolvers<void>();
  const activities: PaymentsActivities = {
    ...service.activities,
    createPayout: async (...input) => {
      await gate.promise;
      const made = await service.activities.createPayout(...input);
      if (isLost) throw ApplicationFailure.nonRetryable("of another", "AnswerContradicts");
      return made;
    },
  };
  return { activities, let: gate.resolve };
};

/** Waits until the code of a run has gone on after what has happened last of this, and is open still. */
const goneOnAfter = (
  handle: WorkflowHandle,
  what: "timerFiredEventAttributes" | "workflowExecutionSignaledEventAttributes",
  times = 1,
) =>
  vi.waitFor(async () => {
    const { events } = await handle.fetchHistory();
    const happened = events?.filter((event) => event[what]) ?? [];
    expect(happened).toHaveLength(times);
    const last = Number(happened.at(-1)?.eventId);
    expect(
      events?.some(
        (event) => event.workflowTaskCompletedEventAttributes && Number(event.eventId) > last,
      ),
    ).toBe(true);
    return (await handle.describe()).status.name;
  }, WITHIN);

const paid = async () => (await service.simulator.state()).payouts.length;

describe("a run ends once what it sends has ended", () => {
  it("its result is the workflow's, and what was made is listed", async () => {
    const { activities, let: letIt } = held();
    await withWorker(rig, activities, async ({ start }) => {
      const handle = await start(payOrGiveUp, [{ payment: await paymentOf(), ends: "return" }]);
      expect(await goneOnAfter(handle, "timerFiredEventAttributes")).toBe("RUNNING");
      letIt();
      expect(await handle.result()).toBe("timeout");
      expect(await paid()).toBe(1);
      const { ids, steps } = await handle.query(progressQuery);
      expect(ids).toMatchObject({ payout_id: expect.any(String) as unknown });
      expect(steps).toMatchObject([{ name: "createPayout", status: "done" }]);
    });
  });

  it("where its workflow has failed, too", async () => {
    const { activities, let: letIt } = held();
    await withWorker(rig, activities, async ({ start }) => {
      const handle = await start(payOrGiveUp, [{ payment: await paymentOf(), ends: "fail" }]);
      expect(await goneOnAfter(handle, "timerFiredEventAttributes")).toBe("RUNNING");
      letIt();
      expect(await failureOf(handle.result())).toMatchObject({ type: "GivenUp" });
      expect(await paid()).toBe(1);
    });
  });

  it("what is in doubt asks a person, and is named where the run ends so", async () => {
    const { activities, let: letIt } = held(true);
    await withWorker(rig, activities, async ({ start }) => {
      const handle = await start(payOrGiveUp, [{ payment: await paymentOf(), ends: "return" }]);
      expect(await goneOnAfter(handle, "timerFiredEventAttributes")).toBe("RUNNING");
      letIt();
      await untilAsked(handle);
      await decide(handle, { by: "Olga", abandon: "enough" });
      expect(await failureOf(handle.result())).toMatchObject({
        type: "EndedInDoubt",
        message: expect.stringContaining("its workflow has returned") as unknown,
        details: [{ inDoubt: [{ step: "createPayout" }] }],
      });
    });
  });

  it("the failure of a signal's handler comes after what another one sends", async () => {
    const { activities, let: letIt } = held();
    await withWorker(rig, activities, async ({ start }) => {
      const handle = await start(payOnSignal, [await paymentOf()]);
      await handle.signal(paySignal, "again");
      await handle.signal(paySignal, "again");
      const signals = "workflowExecutionSignaledEventAttributes";
      expect(await goneOnAfter(handle, signals, 2)).toBe("RUNNING");
      letIt();
      expect(await failureOf(handle.result())).toMatchObject({ type: "DuplicateStep" });
      expect(await paid()).toBe(1);
    });
  });
});
