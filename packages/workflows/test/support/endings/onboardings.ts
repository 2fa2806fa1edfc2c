import {
  instructionIdFor,
  type OnboardCardholderInput,
  type OnboardCardholderOptions,
  resetReason,
  RETRY_INSTRUCTION_TYPE,
  type RetryInstruction,
  retryInstructionQueue,
  STEP,
} from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { onboardCardholder } from "../../../src/index.ts";
import { onboardInput } from "../inputs.ts";
import { approve, cancelAt, cancelWhile, decide, type Ending, refused } from "./ending.ts";

/** Nobody signals the runs that are recorded: they poll by themselves. */
const OFTEN = { min: "100 ms", max: "200 ms" } as const;

const SELDOM = { min: "1 hour", max: "1 hour" } as const;

const nothing = async (): Promise<void> => undefined;

const named = {
  ...onboardInput,
  card: { ...onboardInput.card, card_name: "Travel" },
} satisfies OnboardCardholderInput;

const onboard =
  (
    options: OnboardCardholderOptions,
    during: (handle: WorkflowHandle) => Promise<void> = nothing,
    input: OnboardCardholderInput = named,
  ): Ending["run"] =>
  async ({ start }) => {
    const handle = await start(onboardCardholder, {
      ...input,
      options: { pollInterval: OFTEN, ...options },
    });
    await during(handle);
    return handle;
  };

const COMPENSATE = { onFailure: "compensate" } as const;
const UNVERIFIED = { verifyAfter: Infinity };
const POOR = { balances: { USD: "1.00" } };

/** A card whose answer was lost: a person has it sent again, and another one approves that. */
const approvedAgain = async (handle: WorkflowHandle): Promise<void> => {
  await approve(handle, { approve: true });
  await decide(handle, { by: "Carol", resend: true });
  await approve(handle, { approve: true });
};

/** The endings of `onboardCardholder`. */
export const onboardingEndings: ReadonlyArray<Ending> = [
  {
    name: "onboarding-approved-and-sent-again",
    approveAbove: { USD: "1.00" },
    options: {
      faults: [{ kind: "dropped-before", operation: "createCard" }, refused("createCard")],
    },
    run: onboard({}, approvedAgain),
  },
  { name: "onboarding-completed", run: onboard({}) },
  {
    name: "onboarding-completed-without-name",
    run: onboard({}, nothing, onboardInput),
  },
  {
    name: "onboarding-completed-of-existing-cardholder",
    run: async ({ queue, service, start }) => {
      await (await queue.start(onboardCardholder, [onboardInput])).result();
      const { cardholders } = await service.simulator.state();
      const { card_holder_id } = cardholders[0]!;
      return start(onboardCardholder, { card_holder_id, card: named.card });
    },
  },
  {
    name: "onboarding-failed-at-awaitFunds-of-new-balance",
    options: { balances: { EUR: "1.00" } },
    run: onboard({ fundWithin: "1 second" }),
  },
  {
    name: "onboarding-completed-with-another-cardholder",
    isLatest: true,
    run: async ({ client, queue, service, start }) => {
      const refused = { ...named.cardholder, last_name: "Refused" };
      const input = { ...named, cardholder: refused, options: { pollInterval: OFTEN } };
      const handle = await start(onboardCardholder, input);
      await handle.result().catch(() => undefined);
      const [made] = (await service.simulator.state()).cardholders;
      const { card_holder_id: id } = made!;
      const step = STEP.createCardholder;
      const { runId } = await handle.describe();
      const instructionId = instructionIdFor(runId, "1");
      const instruction: RetryInstruction = {
        by: "Bob",
        reason: "another cardholder",
        from: step,
        input: { ...named, options: input.options },
        fields: ["cardholder.last_name"],
        amendedBy: ["Bob"],
        sent: { [step]: { outcome: "nothing", amendments: 0, isUndone: true, gone: [id] } },
        replaced: [{ step, id, what: "remove" }],
      };
      await client.workflow.start(RETRY_INSTRUCTION_TYPE, {
        workflowId: instructionId,
        taskQueue: retryInstructionQueue(queue.taskQueue),
        args: [instruction],
      });
      const { events } = await handle.fetchHistory();
      const sent = events?.find(
        ({ activityTaskScheduledEventAttributes: activity }) =>
          activity?.activityType?.name === "createCardholder",
      );
      await client.workflowService.resetWorkflowExecution({
        namespace: "default",
        workflowExecution: { workflowId: handle.workflowId },
        reason: resetReason("another cardholder", instructionId),
        requestId: randomUUID(),
        workflowTaskFinishEventId:
          sent?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId ?? null,
      });
      return handle;
    },
  },
  {
    name: "onboarding-amended-by-a-person",
    options: { faults: [refused("createCardholder")] },
    run: onboard({ onRefusal: "ask" }, (handle) =>
      decide(handle, { by: "Ada", amend: { cardholder: { phone_number: "+4930654321" } } }),
    ),
  },
  {
    name: "onboarding-abandoned-by-a-person",
    options: { faults: [refused("createCard")] },
    run: onboard({ onRefusal: "ask", ...COMPENSATE }, (handle) =>
      decide(handle, { by: "Ada", abandon: "not wanted any more" }),
    ),
  },
  {
    name: "onboarding-failed-at-checkRequests",
    run: onboard({}, nothing, { ...named, card: { ...named.card, card_limit: "much" } }),
  },
  {
    name: "onboarding-failed-at-createCardholder",
    options: { faults: [refused("createCardholder")] },
    run: onboard({}),
  },
  {
    name: "onboarding-failed-at-awaitVerification",
    options: UNVERIFIED,
    run: onboard({ verifyWithin: "1 second" }),
  },
  {
    name: "onboarding-failed-at-ensureBalance",
    options: {
      faults: [refused("retrieveBalance"), refused("createBalance"), refused("retrieveBalance")],
    },
    run: onboard({}),
  },
  {
    name: "onboarding-failed-at-awaitFunds",
    options: POOR,
    run: onboard({ fundWithin: "1 second" }),
  },
  {
    name: "onboarding-failed-at-issueCard",
    options: { faults: [refused("createCard")] },
    run: onboard({}),
  },
  {
    name: "onboarding-failed-at-confirmCard",
    options: { faults: [refused("updateCard")] },
    run: onboard({}),
  },
  {
    name: "onboarding-compensated",
    options: { faults: [refused("updateCard")] },
    run: onboard(COMPENSATE),
  },
  {
    name: "onboarding-compensated-in-part",
    options: { faults: [refused("updateCard"), refused("removeCardholder")] },
    run: onboard(COMPENSATE),
  },
  {
    name: "onboarding-cancelled-at-awaitVerification",
    options: UNVERIFIED,
    run: onboard({}, (handle) => cancelAt(handle, "awaitVerification")),
  },
  {
    name: "onboarding-cancelled-at-awaitFunds-and-compensated",
    options: POOR,
    // It is cancelled between two polls: the outcome of one that is under way depends on luck.
    run: onboard({ ...COMPENSATE, pollInterval: SELDOM }, (handle) =>
      cancelWhile(handle, "awaitFunds"),
    ),
  },
];
