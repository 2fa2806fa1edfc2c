import { Context } from "@temporalio/activity";
import {
  onboardStartAttributes,
  payoutStartAttributes,
} from "@durable-payments/activities/start-attributes";
import { intentOfCardholder } from "@durable-payments/activities/match-rows";
import {
  intentMark,
  KEYED_MARK,
  type OnboardCardholderInput,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  payoutEndedSignal,
  type PayoutInput,
} from "@durable-payments/protocol";
import type { Workflow, WorkflowHandle } from "@temporalio/client";
import { randomBytes, randomUUID } from "node:crypto";
import { expect, it, vi } from "vitest";
import { onboardCardholder, payout } from "../src/index.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { onboardInput, payoutInput } from "./support/inputs.ts";
import { startService } from "./support/service.ts";
import { payAndGoOn } from "./support/pay-and-go-on.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { WITHIN } from "./support/until.ts";

const rig = useRig(localRig);
const service = useService({ verifyAfter: 0 });

/** A payout to a beneficiary that exists at the service. */
const toExisting = async (): Promise<PayoutInput> => {
  const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
  return { beneficiary_id, payout: payoutInput.payout };
};

/** Starts a run as whoever knows its account does. */
const startRun = async <W extends Workflow>(
  workflow: W,
  input: PayoutInput,
  isAccountKnown = true,
): Promise<WorkflowHandle<W>> => {
  const workflowId = randomUUID();
  const account = isAccountKnown ? await service.activities.readAccount() : undefined;
  return rig.environment.client.workflow.start(workflow.name, {
    workflowId,
    taskQueue: rig.queue.taskQueue,
    args: [input],
    typedSearchAttributes: [...payoutStartAttributes(workflowId, input, account)],
  });
};

/** Starts an onboarding as whoever knows its account does. */
const startOnboarding = async (
  input: OnboardCardholderInput,
  { readAccount } = service.activities,
): Promise<WorkflowHandle<typeof onboardCardholder>> => {
  const known = { account: await readAccount(), currency: "USD" };
  return rig.environment.client.workflow.start(onboardCardholder, {
    workflowId: randomUUID(),
    taskQueue: rig.queue.taskQueue,
    args: [input],
    typedSearchAttributes: [...onboardStartAttributes(input, known)],
  });
};

/** Activities by which a run polls by itself. */
const POLLING = ["awaitPayoutEnd", "awaitVerification"];

/**
 * The events of a run, and its billable actions: its start, activities and their attempts, batches of
 * local activities, signals, and changes of its search attributes (Temporal Cloud, "Actions").
 * Its fallback polling is counted apart: the run asks for it once, and a second time every so often.
 */
const costOf = async (handle: WorkflowHandle) => {
  const events = (await handle.fetchHistory()).events ?? [];
  const count = (is: (event: (typeof events)[number]) => unknown): number =>
    events.filter((event) => is(event)).length;
  const actions =
    count((event) => event.workflowExecutionStartedEventAttributes) +
    count(
      ({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled && !POLLING.includes(scheduled.activityType?.name ?? ""),
    ) +
    count((event) => event.markerRecordedEventAttributes) +
    count((event) => event.upsertWorkflowSearchAttributesEventAttributes) +
    count((event) => event.workflowExecutionSignaledEventAttributes);
  return { actions, events: events.length };
};

const complete = async (handle: WorkflowHandle): Promise<void> => {
  const [{ payout_id } = { payout_id: "" }] = await vi.waitFor(async () => {
    const { payouts } = await service.simulator.state();
    expect(payouts).toHaveLength(1);
    return payouts;
  }, WITHIN);
  await vi.waitFor(
    async () => {
      const { events } = await handle.fetchHistory();
      const names = events?.map(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name,
      );
      expect(names).toContain("awaitPayoutEnd");
    },
    { timeout: 120_000, interval: 50 },
  );
  await service.simulator.setPayoutStatus(payout_id, "completed");
  await handle.signal(payoutEndedSignal, {
    outcome: "completed",
    payout: { payout_id, payout_status: "completed", complete_time: new Date().toISOString() },
  });
};

/** Holds the polling back, so that the signal is what ends the wait. */
const withoutPolling = () => ({
  ...service.activities,
  awaitPayoutEnd: () => Context.current().cancelled,
});

it("a payout to an existing beneficiary takes 5 billable actions and at most 20 events", async () => {
  const input = await toExisting();
  await withWorker(rig, withoutPolling(), async () => {
    const handle = await startRun(payout, input);
    await complete(handle);
    expect(await handle.result()).toMatchObject({ outcome: "completed" });
    expect(await costOf(handle)).toEqual({ actions: 5, events: 18 });
  });
});

it("a payout that is not waited for takes 3 billable actions and 12 events", async () => {
  const input = await toExisting();
  await withWorker(rig, service.activities, async () => {
    const handle = await startRun(payAndGoOn, input);
    await handle.result();
    expect(await costOf(handle)).toEqual({ actions: 3, events: 12 });
  });
});

it("a run that is not given its account asks its worker: two actions and events more", async () => {
  const input = await toExisting();
  await withWorker(rig, service.activities, async () => {
    const handle = await startRun(payAndGoOn, input, false);
    await handle.result();
    expect(await costOf(handle)).toEqual({ actions: 5, events: 14 });
  });
});

it("a run is found by its key before its first workflow task, and as started afterwards", async () => {
  const input = await toExisting();
  await withWorker(rig, service.activities, async () => {
    const handle = await startRun(payAndGoOn, input);
    const { typedSearchAttributes: atFirst } = await handle.describe();
    await handle.result();
    const { typedSearchAttributes: atLast } = await handle.describe();
    const [payoutOf] = (await service.simulator.state()).payouts;
    const names = (pairs: typeof atFirst) =>
      pairs.getAll().find(({ key }) => key.name === "PaymentIds")?.value;
    expect(names(atFirst)).toContain(payoutOf?.unique_request_id);
    expect(names(atLast)).toContain(payoutOf?.payout_id);
    expect(atLast.getAll().some(({ key }) => key.name === "PaymentInDoubt")).toBe(false);
  });
});

it("an onboarding of a new cardholder takes 13 billable actions and 48 events", async () => {
  await withWorker(rig, service.activities, async () => {
    const handle = await startOnboarding(onboardInput);
    expect(await handle.result()).toMatchObject({ card_limit: "100.00" });
    expect(await costOf(handle)).toEqual({ actions: 13, events: 48 });
    const { typedSearchAttributes } = await handle.describe();
    expect(typedSearchAttributes.get(PAYMENT_IN_DOUBT)).toBeUndefined();
  });
});

it("an onboarding is marked with the secret of its worker, and has no plain mark of whom it creates", async () => {
  const secret = randomBytes(32);
  const marked = await startService(
    { verifyAfter: 0 },
    {},
    { readPause: async () => undefined, signingSecrets: () => [secret] },
  );
  try {
    await withWorker(rig, marked.activities, async () => {
      const handle = await startOnboarding(onboardInput, marked.activities);
      await handle.result();
      const { events } = await handle.fetchHistory();
      const written = (events ?? []).flatMap((event) => {
        const { searchAttributes } =
          event.upsertWorkflowSearchAttributesEventAttributes ??
          event.workflowExecutionStartedEventAttributes ??
          {};
        const ids = searchAttributes?.indexedFields?.[PAYMENT_IDS.name]?.data;
        return ids ? [Buffer.from(ids).toString()] : [];
      });
      const plain = intentMark(intentOfCardholder(onboardInput.cardholder));
      expect(written.some((ids) => ids.includes(`"${KEYED_MARK}"`))).toBe(true);
      expect(written.filter((ids) => ids.includes(plain))).toEqual([]);
    });
  } finally {
    await marked.stop();
  }
});

it("an onboarding whose input is refused leaves nothing in doubt of what it was started with", async () => {
  const card = { ...onboardInput.card, card_limit: "none" };
  await withWorker(rig, service.activities, async () => {
    const handle = await startOnboarding({ ...onboardInput, card });
    await failureOf(handle.result());
    const [started] = (await handle.fetchHistory()).events ?? [];
    const atFirst = started?.workflowExecutionStartedEventAttributes?.searchAttributes;
    expect(Object.keys(atFirst?.indexedFields ?? {})).toContain(PAYMENT_IN_DOUBT.name);
    const { typedSearchAttributes: atLast } = await handle.describe();
    expect(atLast.get(PAYMENT_IN_DOUBT)).toBeUndefined();
    expect(atLast.get(PAYMENT_IDS) ?? []).toEqual([]);
  });
});
