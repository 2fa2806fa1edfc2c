import {
  payoutEndedSignal,
  type PayoutInput,
  type PayoutOptions,
} from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { payout } from "../../../src/index.ts";
import { payoutInput } from "../inputs.ts";
import { approve, cancelAt, decide, type Ending, refused, untilStageIs } from "./ending.ts";

/** Nobody signals the runs that are recorded: they poll by themselves. */
const OFTEN = { min: "100 ms", max: "200 ms" } as const;

const nothing = async (): Promise<void> => undefined;

const pay =
  (
    options: PayoutOptions,
    during: (handle: WorkflowHandle) => Promise<void> = nothing,
    input: PayoutInput = payoutInput,
  ): Ending["run"] =>
  async ({ start }) => {
    const handle = await start(payout, { ...input, options: { pollInterval: OFTEN, ...options } });
    await during(handle);
    return handle;
  };

const { beneficiary: _, ...toExisting } = payoutInput;

/** A payout whose answer was lost, and of which nobody but a person can know what became. */
const lost = {
  echoPayoutKey: false,
  faults: [{ kind: "dropped-before", operation: "createPayout" }, refused("createPayout")],
} as const;

const APPROVAL = { approval: { above: "249.99" } };
const NEVER = { settleAfter: Infinity };

const LIMIT = { USD: "249.99" };

/** A payout of which the worker says at its send that a second person has to approve it. */
const toApprove =
  (decision: Parameters<typeof approve>[1]): Ending["run"] =>
  async ({ service, start }) => {
    const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
    const handle = await start(payout, {
      ...toExisting,
      beneficiary_id,
      options: { pollInterval: OFTEN },
    });
    await approve(handle, decision);
    return handle;
  };

/** The endings of `payout`. */
export const payoutEndings: ReadonlyArray<Ending> = [
  { name: "payout-completed", run: pay({}) },
  {
    name: "payout-completed-to-existing-beneficiary",
    run: async ({ queue, service, start }) => {
      await (await queue.start(payout, [payoutInput])).result();
      const { beneficiaries } = await service.simulator.state();
      return start(payout, { ...toExisting, beneficiary_id: beneficiaries[0]!.beneficiary_id });
    },
  },
  { name: "payout-still-open", options: NEVER, run: pay({ completeWithin: "1 second" }) },
  {
    name: "payout-found-after-lost-answer",
    options: { faults: [{ kind: "dropped", operation: "createPayout" }] },
    run: pay({}),
  },
  {
    name: "payout-sent-again-by-a-person",
    options: lost,
    run: pay({}, (handle) => decide(handle, { by: "Ada", resend: true })),
  },
  {
    name: "payout-abandoned-by-a-person",
    options: lost,
    run: pay({}, (handle) => decide(handle, { by: "Ada", abandon: "no longer owed" })),
  },
  {
    name: "payout-amended-by-a-person",
    options: { faults: [refused("createPayout")] },
    run: pay({ onRefusal: "ask" }, async (handle) => {
      // The contract refuses it: the run asks still.
      await decide(handle, { by: "Ada", amend: { payout: { amount: "-1" } } }).catch(
        () => undefined,
      );
      await decide(handle, { by: "Ada", amend: { payout: { payout_reference: "Invoice 1a" } } });
    }),
  },
  {
    name: "payout-approved",
    run: pay(APPROVAL, (handle) => approve(handle, { approve: true })),
  },
  {
    name: "payout-approved-with-its-payee",
    run: pay(APPROVAL, (handle) => approve(handle, { approve: true })),
  },
  {
    name: "payout-approved-and-proved",
    approveAbove: LIMIT,
    run: toApprove({ approve: true }),
  },
  {
    name: "payout-approved-as-its-worker-wants",
    approveAbove: LIMIT,
    run: pay({}, (handle) => approve(handle, { approve: true })),
  },
  {
    name: "payout-approved-at-its-send",
    approveAbove: LIMIT,
    run: toApprove({ approve: true }),
  },
  {
    name: "payout-rejected-at-its-send",
    approveAbove: LIMIT,
    run: toApprove({ reject: "not ours" }),
  },
  {
    name: "payout-failed-at-checkRequests",
    run: pay({}, nothing, { ...payoutInput, payout: { ...payoutInput.payout, amount: "much" } }),
  },
  {
    name: "payout-failed-at-awaitApproval",
    run: pay(APPROVAL, (handle) => approve(handle, { reject: "not ours" })),
  },
  {
    name: "payout-failed-at-createBeneficiary",
    options: { faults: [refused("createBeneficiary")] },
    run: pay({}),
  },
  {
    name: "payout-failed-at-createPayout",
    options: { faults: [refused("createPayout")] },
    run: pay({}),
  },
  {
    name: "payout-failed-at-awaitPayout",
    options: NEVER,
    run: async ({ service, start }) => {
      const handle = await start(payout, { ...payoutInput, options: { pollInterval: OFTEN } });
      await untilStageIs(handle, "awaitPayout");
      const { payouts } = await service.simulator.state();
      await service.simulator.setPayoutStatus(payouts[0]!.payout_id, "failed");
      return handle;
    },
  },
  {
    name: "payout-completed-as-signalled-by-the-tracker",
    options: NEVER,
    run: async ({ service, start }) => {
      const handle = await start(payout, payoutInput);
      await untilStageIs(handle, "awaitPayout");
      const { payouts } = await service.simulator.state();
      const { amount, currency, payout_id } = payouts[0]!;
      await service.simulator.setPayoutStatus(payout_id, "completed");
      await handle.signal(payoutEndedSignal, {
        outcome: "completed",
        payout: { payout_id, amount, currency, payout_status: "completed" },
      });
      return handle;
    },
  },
  {
    name: "payout-completed-after-a-reset",
    options: { faults: [refused("createPayout")] },
    isLatest: true,
    run: async ({ client, start }) => {
      const handle = await start(payout, { ...payoutInput, options: { pollInterval: OFTEN } });
      await handle.result().catch(() => undefined);
      const { events } = await handle.fetchHistory();
      const [sent] = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) =>
        activity?.activityType?.name === "createPayout" ? [activity] : [],
      );
      await client.workflowService.resetWorkflowExecution({
        namespace: "default",
        workflowExecution: { workflowId: handle.workflowId },
        reason: "the service is mended",
        requestId: randomUUID(),
        workflowTaskFinishEventId: sent!.workflowTaskCompletedEventId!,
      });
      return handle;
    },
  },
  {
    name: "payout-cancelled-at-awaitApproval",
    run: pay(APPROVAL, (handle) => cancelAt(handle, "awaitApproval")),
  },
  {
    name: "payout-cancelled-at-awaitPayout",
    options: NEVER,
    run: pay({}, (handle) => cancelAt(handle, "awaitPayout")),
  },
  {
    name: "payout-cancelled-while-it-asks",
    options: lost,
    run: pay({}, (handle) => cancelAt(handle, "needsAttention")),
  },
];
