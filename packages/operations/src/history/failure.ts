import { redact } from "@durable-payments/api-core";
import { isRecord, messageOf } from "@durable-payments/api-core/values";
import type { Actor } from "@durable-payments/ledger";
import { failureTypes } from "@durable-payments/protocol/calls";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  defaultFailureConverter,
  defaultPayloadConverter,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/common";
import type { temporal } from "@temporalio/proto";

/** An event of a history. */
export type Event = temporal.api.history.v1.IHistoryEvent;

/** Why a run, or a part of it, failed. */
export interface Failure {
  /** A type of `failureTypes`, or of a user's own; else Cancelled, Terminated, TimedOut or Failed. */
  readonly type: string;
  /** Without account numbers, tokens and the like. */
  readonly message: string;
  /** As it was thrown, for the rules of a retry; no screen shows it. */
  readonly details?: unknown;
  /** Id of the activity, or of the child, that failed. */
  readonly failed?: string;
}

const OURS: ReadonlySet<string> = new Set(Object.values(failureTypes));

const detailsOf = (given: ReadonlyArray<unknown> | null | undefined) => {
  // What `type` says already is left out.
  const details = (given ?? []).map((detail) => {
    if (!isRecord(detail)) return detail;
    const { _tag, ...rest } = detail;
    return rest;
  });
  return details.length === 0 ? {} : { details: details.length === 1 ? details[0] : details };
};

const typeOf = (error: unknown): string => {
  if (error instanceof CancelledFailure) return "Cancelled";
  if (error instanceof TerminatedFailure) return "Terminated";
  return error instanceof TimeoutFailure ? "TimedOut" : "Failed";
};

/** Reads why something failed: by the failure that this project has made, else by the outermost one of a workflow. */
export const readFailure = (error: unknown): Failure => {
  const chain: Array<unknown> = [error];
  for (let last = error; last instanceof Error && last.cause instanceof Error; last = last.cause)
    chain.push(last.cause);
  const applications = chain.filter((cause) => cause instanceof ApplicationFailure);
  const found = applications.find(({ type }) => OURS.has(type ?? "")) ?? applications[0];
  const [failed] = chain.flatMap((cause) => {
    if (cause instanceof ActivityFailure) return cause.activityId ?? [];
    return cause instanceof ChildWorkflowFailure ? (cause.execution.workflowId ?? []) : [];
  });
  const last = chain.at(-1);
  return {
    type: found === undefined ? typeOf(last) : (found.type ?? "Failed"),
    message: redact(messageOf(found ?? last)),
    ...detailsOf(found?.details),
    ...(failed !== undefined && { failed }),
  };
};

/** Returns a failure that a history holds; null where there is none. */
export const failureOf = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
): Failure | null => {
  if (!failure) return null;
  try {
    return readFailure(defaultFailureConverter.failureToError(failure, defaultPayloadConverter));
  } catch {
    // Whoever executes a run writes any bytes.
    return { type: "Unreadable", message: "Its failure cannot be decoded here." };
  }
};

const ENDED = "Ended by a person's decision: ";

/** Says in Temporal's history that a person ends a run, so that `recover` finds an end that the ledger has lost. */
export const endText = ({ by, reason }: Actor): string => `${ENDED}${by}: ${reason ?? ""}`;

/** Returns the {@link endText} by which a run was asked to end: cancelling it by Temporal's own tools is no person's end. */
export const endRequestOf = (events: ReadonlyArray<Event>): string | undefined =>
  events
    .map(({ workflowExecutionCancelRequestedEventAttributes: requested }) => requested?.cause)
    .find((cause): cause is string => cause?.startsWith(ENDED) ?? false);

/** Reads why a run ended from its last event; null where that does not say it. */
export const closeFailureOf = (close: Event | undefined): Failure | null => {
  const terminated = close?.workflowExecutionTerminatedEventAttributes;
  if (terminated) {
    const reason = terminated.reason || "no reason";
    if (reason.startsWith(ENDED)) return { type: failureTypes.ended, message: reason };
    const by = terminated.identity ? ` by ${terminated.identity}` : "";
    return { type: "Terminated", message: `Terminated${by}: ${reason}` };
  }
  if (close?.workflowExecutionTimedOutEventAttributes)
    return { type: "TimedOut", message: "The run reached its time-out." };
  if (close?.workflowExecutionCanceledEventAttributes)
    return { type: "Cancelled", message: "The run was cancelled." };
  return failureOf(close?.workflowExecutionFailedEventAttributes?.failure);
};
