import { isSensitiveField, redact } from "@durable-payments/api-core";
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
  type PayloadConverter,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { readPayload } from "../connection/readable-payloads.ts";

/** An event of a history. */
export type Event = temporal.api.history.v1.IHistoryEvent;

/** Why a run, or a part of it, failed. */
export interface Failure {
  /** A type of `failureTypes`, or of a user's own; else Cancelled, Terminated, TimedOut or Failed. */
  readonly type: string;
  readonly message: string;
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
    message: messageOf(found ?? last),
    ...detailsOf(found?.details),
    ...(failed !== undefined && { failed }),
  };
};

/** What stands in the place of a value that is masked as a whole. */
const MASK = "[redacted]";

/** The latest time that a Date holds: milliseconds since 1970. */
const LATEST_TIME_MS = 8.64e15;

/** Numbers that look like an account number become texts; times (`begunAt`, `since`) as ISO 8601. */
const maskedNumber = (name: string, value: number): number | string => {
  const text = String(value);
  if (redact(text) === text) return value;
  return /(At|since)$/.test(name) && Math.abs(value) <= LATEST_TIME_MS
    ? new Date(value).toISOString()
    : maskedText(name, text);
};

/** Whether the field of a name holds an id, which is shown however it looks: `payout_id`. */
const IS_ID = /(?<![a-z0-9_])(?:[a-z]+_)*id$/i;

const maskedText = (name: string, text: string): string =>
  redact(text, [], IS_ID.test(name) && /^[\w-]+$/.test(text) ? [text] : []);

/**
 * One value of JSON. Each is masked by itself: a text may be JSON, or nearly, and what is masked within the
 * text of a whole document may end that of another value.
 */
const maskedField = (name: string, value: unknown): unknown => {
  if (value === null || typeof value === "boolean") return value;
  if (isSensitiveField(name)) return MASK;
  if (typeof value === "string") return maskedText(name, value);
  if (typeof value === "number") return maskedNumber(name, value);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, field]) => [redact(key), field]))
    : value;
};

/** A value, as JSON has it, without what must not be shown: account numbers, tokens and the like. */
const masked = <A>(value: A): A => {
  if (value === undefined) return value;
  // Masking changes texts only.
  return JSON.parse(JSON.stringify(value), maskedField) as A;
};

/** What a failure holds is read as any other payload: without its key it is told by that key. */
const failurePayloads: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  // The SDK says of which type a value is.
  fromPayload: ((payload) => readPayload(payload)) as PayloadConverter["fromPayload"],
};

/** Returns a failure that a history holds, by default without what must not be shown; null where there is none. */
export const failureOf = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
  shown: (read: Failure) => Failure = masked,
): Failure | null => {
  if (!failure) return null;
  try {
    return shown(readFailure(defaultFailureConverter.failureToError(failure, failurePayloads)));
  } catch {
    // Whoever executes a run writes any bytes.
    return { type: "Unreadable", message: "Its failure cannot be decoded here." };
  }
};

const ENDED = "Ended by a person's decision: ";

/** Says in Temporal's history that a person ends a run, so that `recover` finds an end that the ledger has lost. */
export const endText = ({ by, reason }: Actor): string => `${ENDED}${by}: ${reason ?? ""}`;

/** Whether a run was asked to end by {@link endText}: cancelling it by Temporal's own tools is no person's end. */
export const isEndRequested = (events: ReadonlyArray<Event>): boolean =>
  events.some(({ workflowExecutionCancelRequestedEventAttributes: requested }) =>
    requested?.cause?.startsWith(ENDED),
  );

/** Reads why a run ended from its last event; null where that does not say it. */
export const closeFailureOf = (
  close: Event | undefined,
  shown?: (read: Failure) => Failure,
): Failure | null => {
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
  return failureOf(close?.workflowExecutionFailedEventAttributes?.failure, shown);
};
