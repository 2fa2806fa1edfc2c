import {
  type EndedState,
  endedStateOf,
  isAskingStage,
  PAYMENT_AWAITS,
  PAYMENT_STAGE,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import { WAITING_STAGE } from "./query.ts";

/** A run that goes on: it works, waits for the service or for money, or waits for a person. */
export type OpenState = "running" | "waiting" | "attention" | "paused";

/** A run that has ended, and not as it should have. */
export type BrokenState = Exclude<EndedState, "completed">;

/** How a run stands, in one word: the same in lists, reports, waits and batches. */
export type StateName = OpenState | EndedState;

/** How a step of a run stands: the same words, or that the run has ended and nobody knows whether it was done. */
export type StepState = Exclude<StateName, "paused" | "timedOut" | "terminated"> | "inDoubt";

/** Temporal's status, and what a run says of itself by its search attributes. */
export type Described = Pick<WorkflowExecutionInfo, "status" | "typedSearchAttributes">;

/**
 * Read how a run stands that goes on.
 *
 * @param stage that it is at, as its progress or its search attributes have it.
 * @param isAwaiting whether it awaits something beside that.
 * @returns its state.
 */
export const openStateOf = (stage: string, isAwaiting = false): Exclude<OpenState, "paused"> => {
  if (isAskingStage(stage)) return "attention";
  return isAwaiting || stage.startsWith(WAITING_STAGE) ? "waiting" : "running";
};

/** How a run stands; one that was continued as new goes on. */
export const stateNameOf = ({ status, typedSearchAttributes }: Described): StateName => {
  const ended = endedStateOf(status.name);
  if (ended !== undefined) return ended;
  if (status.name === "PAUSED") return "paused";
  const awaits = typedSearchAttributes.get(PAYMENT_AWAITS) ?? [];
  return openStateOf(typedSearchAttributes.get(PAYMENT_STAGE) ?? "", awaits.length > 0);
};

/** Whether a run goes on. */
export const isOpenState = (state: StateName): state is OpenState =>
  state === "running" || state === "waiting" || state === "attention" || state === "paused";

/**
 * Check whether a run has not ended.
 *
 * @param run as `stateOf` or `startRun` returns it.
 * @returns false for a run that has completed, failed, timed out, or was cancelled or terminated.
 */
export const isOpen = ({ state }: { readonly state: StateName }): boolean => isOpenState(state);
