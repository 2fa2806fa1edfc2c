import { isRecord, messageOf } from "@durable-payments/api-core/values";
import { WorkflowFailedError } from "@temporalio/client";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/common";

/** Why a run failed. */
export interface Failure {
  /** What programs read: the type of the failure, or Cancelled, Terminated, TimedOut. */
  readonly type: string;
  readonly message: string;
  readonly details?: unknown;
  /** What led to it, where a failure was wrapped on purpose. */
  readonly cause?: Failure;
}

/** What `type` says already is left out of the details. */
const withoutTag = (detail: unknown): unknown => {
  if (!isRecord(detail)) return detail;
  const { _tag, ...rest } = detail;
  return rest;
};

const detailsOf = (details: ReadonlyArray<unknown> | null | undefined) => {
  const given = (details ?? []).map(withoutTag);
  if (given.length === 0) return {};
  return { details: given.length === 1 ? given[0] : given };
};

/** Reads what a run failed with, without the wrappers that Temporal puts around a failure. */
export const readFailure = (error: unknown): Failure => {
  if (
    error instanceof WorkflowFailedError ||
    error instanceof ActivityFailure ||
    error instanceof ChildWorkflowFailure
  ) {
    return error.cause === undefined
      ? { type: "Failed", message: error.message }
      : readFailure(error.cause);
  }
  if (error instanceof ApplicationFailure) {
    return {
      type: error.type ?? "Failed",
      message: error.message,
      ...detailsOf(error.details),
      ...(error.cause && { cause: readFailure(error.cause) }),
    };
  }
  if (error instanceof CancelledFailure) {
    return { type: "Cancelled", message: "The run was cancelled.", ...detailsOf(error.details) };
  }
  if (error instanceof TerminatedFailure) return { type: "Terminated", message: error.message };
  if (error instanceof TimeoutFailure) return { type: "TimedOut", message: error.message };
  return { type: "Failed", message: messageOf(error) };
};
