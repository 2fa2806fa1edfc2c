import type { WorkflowHandle } from "@temporalio/client";
import {
  onboardCardholder,
  type OnboardCardholderInput,
  payout,
  type PayoutInput,
  progressQuery,
  resolveUpdate,
} from "../../src/index.ts";
import { onboardInput, payoutInput } from "./inputs.ts";
import { type Queue, type Rig, withWorker } from "./rig.ts";
import { type Service, startService } from "./service.ts";

/** A way in which a run ends. Its name is the workflow's id, and the history's. */
interface Ending {
  readonly name: string;
  readonly options?: Parameters<typeof startService>[0];
  /** Begins the run and brings it to its end. */
  readonly run: (queue: Queue, service: Service, name: string) => Promise<WorkflowHandle>;
}

const untilStageIs = async (handle: WorkflowHandle, stage: string): Promise<void> => {
  while ((await handle.query(progressQuery)).stage !== stage) {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
};

const pay =
  (input: PayoutInput, during: (handle: WorkflowHandle, service: Service) => Promise<void>) =>
  async ({ start }: Queue, service: Service, name: string): Promise<WorkflowHandle> => {
    const handle = await start(payout, [input], name);
    await during(handle, service);
    return handle;
  };

const onboard =
  (input: OnboardCardholderInput) =>
  ({ start }: Queue, _: Service, name: string): Promise<WorkflowHandle> =>
    start(onboardCardholder, [input], name);

const nothing = async (): Promise<void> => undefined;

const compensating = {
  ...onboardInput,
  card: { ...onboardInput.card, card_name: "Travel" },
  options: { onFailure: "compensate" },
} as const;

/** The main endings of the workflows, as they are recorded for replay. */
export const endings: ReadonlyArray<Ending> = [
  { name: "payout-completed", run: pay(payoutInput, nothing) },
  {
    name: "payout-found-after-lost-answer",
    options: { faults: [{ kind: "dropped", operation: "createPayout" }] },
    run: pay(payoutInput, nothing),
  },
  {
    name: "payout-sent-again-by-a-person",
    options: {
      echoPayoutKey: false,
      faults: [
        { kind: "dropped-before", operation: "createPayout" },
        { kind: "refusal-in-200", operation: "createPayout" },
      ],
    },
    run: pay(payoutInput, async (handle) => {
      await untilStageIs(handle, "needsAttention");
      await handle.executeUpdate(resolveUpdate, { args: [{ by: "Ada", resend: true }] });
    }),
  },
  {
    name: "payout-refused",
    options: { faults: [{ kind: "refusal-in-200", operation: "createPayout" }] },
    run: pay(payoutInput, nothing),
  },
  {
    name: "payout-cancelled-while-awaited",
    options: { settleAfter: Infinity },
    run: pay(payoutInput, async (handle) => {
      await untilStageIs(handle, "awaitPayout");
      await handle.cancel();
    }),
  },
  { name: "onboarding-completed", run: onboard(onboardInput) },
  {
    name: "onboarding-compensated",
    options: { faults: [{ kind: "refusal-in-200", operation: "updateCard" }] },
    run: onboard(compensating),
  },
];

/** Brings a run to one of the endings, and gives its history. */
export const historyOf = async (rig: Rig, { name, options, run }: Ending) => {
  const service = await startService(
    { settleAfter: 0, verifyAfter: 0, ...options },
    { requestTimeoutMs: 1_000, assumptions: { listLagSeconds: 0 } },
  );
  try {
    return await withWorker(rig, service.activities, async (queue) => {
      const handle = await run(queue, service, name);
      // However it ends.
      await handle.result().catch(() => undefined);
      return handle.fetchHistory();
    });
  } finally {
    await service.stop();
  }
};
