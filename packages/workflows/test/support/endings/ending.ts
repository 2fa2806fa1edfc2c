import type { AmountLimits, PaymentsActivities } from "@durable-payments/activities";
import {
  type Approval,
  type ApprovalRequest,
  approveUpdate,
  progressQuery,
} from "@durable-payments/protocol";
import type { Client, WorkflowHandle } from "@temporalio/client";
import { type Decided, decide as answer } from "../decide.ts";
import type { Queue } from "../rig.ts";
import type { Service, startService } from "../service.ts";

/** Where a run is brought to its end. */
export interface Stage {
  readonly client: Client;
  readonly queue: Queue;
  readonly service: Service;
  /** Starts the run, under the name of the ending. */
  readonly start: <Args extends ReadonlyArray<unknown>>(
    workflow: (...args: Args) => Promise<unknown>,
    ...args: Args
  ) => Promise<WorkflowHandle>;
}

/** A way in which a run ends. Its name is the workflow's id, and the history's. */
export interface Ending {
  readonly name: string;
  /** Of the simulated service; by default everything is done at once. */
  readonly options?: Parameters<typeof startService>[0];
  /** Instead of those that call the simulated service. */
  readonly activities?: Partial<PaymentsActivities>;
  /** A limit of the worker, above which a second person has to approve. */
  readonly approveAbove?: AmountLimits;
  /** Of several runs of its id the latest is recorded, not the first. */
  readonly isLatest?: true;
  /** Begins the run and brings it to its end. */
  readonly run: (stage: Stage) => Promise<WorkflowHandle>;
}

/** A refusal of the next request of the operation. */
export const refused = <Operation extends string>(operation: Operation) =>
  ({ kind: "refusal-in-200", operation }) as const;

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
};

/** Awaits that the run has reached the stage. */
export const untilStageIs = (handle: WorkflowHandle, stage: string): Promise<void> =>
  until(async () => (await handle.query(progressQuery)).stage === stage);

/** Decides as a person when the run asks. */
export const decide = async (handle: WorkflowHandle, decided: Decided): Promise<void> => {
  await untilStageIs(handle, "needsAttention");
  await answer(handle, decided);
};

/** Decides as the second person when the run waits for one. */
export const approve = async (
  handle: WorkflowHandle,
  decision: { readonly approve: true } | { readonly reject: string },
): Promise<void> => {
  await until(async () => {
    const { shown } = await handle.query(progressQuery);
    return shown["approval"] !== undefined;
  });
  const { shown } = await handle.query(progressQuery);
  // As the step shows it.
  const { hash } = shown["approval"] as ApprovalRequest;
  const approval: Approval = { by: "Bob", hash, ...decision };
  await handle.executeUpdate(approveUpdate, { args: [approval] });
};

/** Cancels the run when it has reached the stage. */
export const cancelAt = async (handle: WorkflowHandle, stage: string): Promise<void> => {
  await untilStageIs(handle, stage);
  await handle.cancel();
};

/** Cancels a run while it waits by an activity of this type, between two of its polls. */
export const cancelWhile = async (handle: WorkflowHandle, activityType: string): Promise<void> => {
  await until(async () => {
    const { raw } = await handle.describe();
    const [pending] = raw.pendingActivities ?? [];
    return pending?.activityType?.name === activityType && Number(pending.attempt) > 1;
  });
  await handle.cancel();
};
