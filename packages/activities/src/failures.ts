import {
  OutcomeUnknown,
  type PaymentsError,
  PaymentsError as PaymentsErrors,
} from "@durable-payments/api-core";
import { type Pause, utc } from "@durable-payments/protocol";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import { Schema } from "effect";
import { ALREADY_SENT, type SentAlready } from "./send-intent.ts";

const encode = Schema.encodeSync(PaymentsErrors);

/** How long an activity waits before it tries again where the account's credentials are refused. */
const NOT_AUTHENTICATED_WAIT_MS = 30_000;

const nextRetryDelay = (error: PaymentsError): number | undefined => {
  switch (error._tag) {
    case "RateLimited":
      return error.retryAfter;
    case "NotAuthenticated":
      return NOT_AUTHENTICATED_WAIT_MS;
    default:
      return undefined;
  }
};

/** Type of the failure of a send whose answer is not about what was sent: what became of it is not known. */
const ANSWER_CONTRADICTS = "AnswerContradicts";

const typeOf = (error: PaymentsError): string =>
  error._tag === "UnexpectedAnswer" && error.contradicts !== undefined
    ? ANSWER_CONTRADICTS
    : error._tag;

/**
 * The failure of an activity for an error of the client: its tag as `type`, the encoded error
 * (already redacted) as its one detail. `longestDelayMs` bounds the time until the next attempt: the
 * server ends an activity at once whose next attempt would come after its schedule-to-close timeout.
 */
export const toApplicationFailure = (
  error: PaymentsError,
  {
    longestDelayMs = Infinity,
    nonRetryable,
  }: { readonly nonRetryable: boolean; readonly longestDelayMs?: number },
): ApplicationFailure => {
  const delay = nextRetryDelay(error);
  return ApplicationFailure.create({
    type: typeOf(error),
    message: error.message,
    nonRetryable,
    details: [encode(error)],
    ...(delay === undefined ? {} : { nextRetryDelay: Math.min(delay, longestDelayMs) }),
  });
};

/** Type of the failure by which a waiting activity says that what it polls for has not happened yet. */
export const NOT_YET = "NotYet";

/**
 * Not a fault: what is awaited has not happened. The activity is retried after `delayMs`, which
 * adds no event to the workflow's history, and is logged as nothing special.
 */
export const notYet = (message: string, delayMs: number): ApplicationFailure =>
  ApplicationFailure.create({
    type: NOT_YET,
    message,
    nextRetryDelay: delayMs,
    category: ApplicationFailureCategory.BENIGN,
  });

/** Type of the failure of a send that was not made because sends are paused: certainly not carried out. */
export const PAUSED = "Paused";

/** How long an activity waits before it asks again whether sends are paused. */
const PAUSED_WAIT_MS = 10_000;

/** Make the failure of a send that was not made because sends are paused. */
export const paused = (
  { by, since, why }: Pause,
  { nonRetryable }: { readonly nonRetryable: boolean },
): ApplicationFailure =>
  ApplicationFailure.create({
    type: PAUSED,
    message: `Sends are paused since ${since} by ${by}: ${why}`,
    nonRetryable,
    nextRetryDelay: PAUSED_WAIT_MS,
    category: ApplicationFailureCategory.BENIGN,
  });

/** Type of the failure of a send that was not made because its run has ended. */
export const RUN_ENDED = "RunEnded";

/** Make the failure of a send that came after the end of its run. */
export const runEnded = (
  operation: string,
  { nonRetryable }: { readonly nonRetryable: boolean },
): ApplicationFailure =>
  ApplicationFailure.create({
    type: RUN_ENDED,
    message: `${operation} was not sent: its run has ended.`,
    nonRetryable,
  });

/** Type of the failure of a send that was not made because its run is to be cancelled. */
export const RUN_CANCELLING = "RunCancelling";

/** Make the failure of a send that came after its run was asked to be cancelled. */
export const runCancelling = (operation: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: RUN_CANCELLING,
    message: `${operation} was not sent: its run was asked to be cancelled.`,
    nonRetryable: true,
  });

/** Type of the failure of what a second person has to approve first: nothing was sent. */
export const NEEDS_APPROVAL = "NeedsApproval";

/** Make the failure of what a second person has to approve first. */
export const needsApproval = (what: string, why: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: NEEDS_APPROVAL,
    message: `${what} needs the approval of a second person: it is ${why}. It was not sent.`,
    nonRetryable: true,
    details: [{ why }],
    category: ApplicationFailureCategory.BENIGN,
  });

/** Make the failure of a send whose answer names or shows something else than what was sent. */
export const answerContradicts = (operation: string, why: string): ApplicationFailure => {
  const message = `${operation} was answered, and not with what was sent: ${why}. What became of it is not known.`;
  return ApplicationFailure.create({
    type: ANSWER_CONTRADICTS,
    message,
    nonRetryable: true,
    details: [encode(new OutcomeUnknown({ operation, carriedOut: "unknown", message }))],
  });
};

const OUTCOMES = {
  begun: "and what became of it is not known",
  carriedOut: "and was carried out",
  notCarriedOut: "and was not carried out",
  unknown: "and its answer was lost",
  undone: "and was carried out, and undone since",
} as const;

/** Make the failure of a send that the journal does not permit: nothing was sent. */
export const alreadySent = (operation: string, sent: SentAlready): ApplicationFailure =>
  ApplicationFailure.create({
    type: ALREADY_SENT,
    message: `${operation} was not sent again: a send of it began at ${utc(sent.begunAt)}, ${OUTCOMES[sent.outcome]}.`,
    nonRetryable: true,
    details: [sent],
  });

/** Type of the failure of a second attempt: the first one may have sent the request, and may yet. */
export const WORKER_LOST = "WorkerLost";

/** Make the failure of a send whose worker was lost before it could report the outcome. */
export const workerLost = (operation: string): ApplicationFailure => {
  const message = `${operation} may have been sent by a worker that was lost before it could report the outcome.`;
  return ApplicationFailure.create({
    type: WORKER_LOST,
    message,
    nonRetryable: true,
    details: [encode(new OutcomeUnknown({ operation, carriedOut: "unknown", message }))],
  });
};
