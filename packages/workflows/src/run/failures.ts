import type { SentAlready } from "@durable-payments/activities";
import { isSentAlready } from "@durable-payments/activities/send-intent";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
} from "@temporalio/common";
import { isRecord } from "@durable-payments/api-core/values";
import { textAt } from "@durable-payments/protocol";

/** What became of a send that failed. */
export type SendFailure =
  /** The service or our own check said no. */
  | { readonly _tag: "Refused"; readonly failure: ApplicationFailure }
  /** Not sent because sends are paused: to be sent when they are resumed. */
  | { readonly _tag: "Paused"; readonly reason: string }
  /** Not sent because a second person has to approve it first. */
  | { readonly _tag: "NeedsApproval"; readonly reason: string; readonly why: string }
  /** Certainly not carried out: it may be sent again. */
  | {
      readonly _tag: "NotCarriedOut";
      readonly reason: string;
      readonly waitMs: number;
      /** HTTP status of the answer that turned it away without an envelope, or for its token. */
      readonly status?: number;
    }
  /** The journal did not permit it: by this send nothing was sent. */
  | { readonly _tag: "AlreadySent"; readonly reason: string; readonly sent: SentAlready }
  /** Nobody knows: reconcile it before it is sent again. `type` as the activity failed. */
  | { readonly _tag: "Unknown"; readonly reason: string; readonly type: string };

const numberIn = (detail: unknown, field: string): number | undefined => {
  const value = isRecord(detail) ? detail[field] : undefined;
  return typeof value === "number" ? value : undefined;
};

const SHORTEST_WAIT_MS = 1_000;

/** HTTP status of a request whose credentials are not accepted. */
const UNAUTHORIZED = 401;

/**
 * Read the failure of an activity that sends. Anything that is not certain counts as unknown, an
 * activity that was cancelled, too.
 *
 * @throws the error itself when it is no failure of an activity.
 */
export const readSendFailure = (error: unknown): SendFailure => {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    switch (cause.type) {
      // A run of an account that no worker has is for a person to retry, once one has it.
      case "UnknownAccount":
      case "InvalidRequest":
      case "Refused":
        return { _tag: "Refused", failure: cause };
      case "Paused":
        return { _tag: "Paused", reason: cause.message };
      case "NeedsApproval":
        return {
          _tag: "NeedsApproval",
          reason: cause.message,
          why: textAt(cause.details?.[0], "why") ?? "above a limit",
        };
      case "OtherAccount":
      case "RunCancelling":
      case "RunEnded":
      case "Unavailable":
      case "RateLimited":
      case "NotAuthenticated": {
        const [detail] = cause.details ?? [];
        const status =
          cause.type === "NotAuthenticated" ? UNAUTHORIZED : numberIn(detail, "status");
        return {
          _tag: "NotCarriedOut",
          reason: cause.message,
          waitMs: Math.max(SHORTEST_WAIT_MS, numberIn(detail, "retryAfter") ?? 0),
          ...(status !== undefined && { status }),
        };
      }
      case "AlreadySent": {
        const [sent] = cause.details ?? [];
        return isSentAlready(sent)
          ? { _tag: "AlreadySent", reason: cause.message, sent }
          : { _tag: "Unknown", reason: cause.message, type: cause.type };
      }
      default:
        return { _tag: "Unknown", reason: cause.message, type: cause.type ?? "" };
    }
  }
  return { _tag: "Unknown", reason: rootCause(error).message, type: "" };
};

/** Find the first cause of a failure: the words of the service or of a check. */
export const rootCause = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? rootCause(error.cause) : error;
};

/** What an activity failed with, in its own type and words; not just that an activity failed. */
export const failureOfActivity = (error: unknown): ApplicationFailure | undefined =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure
    ? error.cause
    : undefined;

/**
 * Whether an activity gave up because its whole time was over, not because of a fault. The server
 * says so by a timeout while an attempt runs or waits for a worker, and between two attempts by the
 * state of the retries, with the last attempt's failure.
 */
export const isOverdue = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  (error.retryState === "TIMEOUT" ||
    (error.cause instanceof TimeoutFailure &&
      (error.cause.timeoutType === "SCHEDULE_TO_CLOSE" ||
        error.cause.timeoutType === "SCHEDULE_TO_START")));

/**
 * A cancellation that an activity did not receive in its attempt: it failed by itself, as it does
 * while what it awaits has not happened, and was not tried again because it was to be cancelled.
 */
export const asCancellation = (error: unknown): unknown =>
  error instanceof ActivityFailure &&
  error.retryState === "CANCEL_REQUESTED" &&
  error.cause instanceof ApplicationFailure &&
  error.cause.nonRetryable !== true
    ? new CancelledFailure(error.cause.message, [], error)
    : error;

/** Whether something failed with a failure of this type, itself or by what it wraps. */
export const isOfType = (error: unknown, type: string): boolean =>
  error instanceof Error &&
  ((error instanceof ApplicationFailure && error.type === type) || isOfType(error.cause, type));

/** A failure that ends a run; `type` is for programs, `message` for people. */
export const runFailure = (
  type: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): ApplicationFailure => ApplicationFailure.nonRetryable(message, type, details);

/** The failure of a run that has failed, where not all that it had done could be undone. */
export const compensationIncomplete = (
  error: unknown,
  details: {
    readonly leftOver: ReadonlyArray<string>;
    readonly ids: Readonly<Record<string, string>>;
  },
): ApplicationFailure =>
  ApplicationFailure.create({
    type: "CompensationIncomplete",
    message: `The run failed (${rootCause(error).message}), and not all of it could be undone: ${details.leftOver.join("; ")}`,
    nonRetryable: true,
    details: [details],
    cause: rootCause(error),
  });
