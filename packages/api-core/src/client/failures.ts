/*
 * The error of a failed exchange: what happened to the operation, and what to do next.
 *
 * The table of outcomes says which error a class of responses has. An error must not claim more than the response does:
 * the refusal of a resend leaves the outcome of an earlier send unknown.
 */
import * as Duration from "effect/Duration";
import {
  NotAuthenticated,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  RequestRefused,
  Unavailable,
  UnexpectedAnswer,
} from "./errors.ts";
import type { NoResponse } from "./no-response.ts";
import type { Operation } from "./operations.ts";
import { type Failed, failed, type FailedClass, outcomeOf, OUTCOMES } from "./outcomes.ts";
import type { Outgoing } from "./send.ts";
import { unknownOutcome } from "./unknown-outcome.ts";

const CONFLICT = 409;
const TOO_MANY = 429;
const DEFAULT_WAIT_MS = 1000;

/** The details of a failure, in addition to its class. */
interface Details {
  /** The end of the sentence "OPERATION was …". */
  readonly was: string;
  /** The words of the service, masked. */
  readonly reason?: string;
  readonly status?: number;
  readonly code?: number;
  readonly body?: string;
  readonly waitMs?: number | undefined;
  /** The next step for a person. */
  readonly remedy?: string | undefined;
}

const CHECK_NETWORK = "Check PAYMENTS_BASE_URL (baseUrl) and the network.";

/** The next step for a person, unless the details of a failure have another. */
const REMEDIES: Readonly<Partial<Record<FailedClass, string>>> = {
  notSent: CHECK_NETWORK,
  gateway: CHECK_NETWORK,
  turnedAway: CHECK_NETWORK,
};

const EARLIER_SEND = "An earlier send of it may have taken effect.";

const errorOf = (is: FailedClass, operation: Operation, details: Details): PaymentsError => {
  const { body, code, reason = "", status, waitMs = DEFAULT_WAIT_MS, was } = details;
  const { carriedOut } = outcomeOf(is, operation.idempotency);
  const { error } = OUTCOMES[is];
  const isOfEarlierSend = error === "RequestRefused" && carriedOut === "unknown";
  const remedy = isOfEarlierSend ? EARLIER_SEND : (details.remedy ?? REMEDIES[is]);
  const what = `${operation.name} was ${was}.${remedy === undefined ? "" : ` ${remedy}`}`;
  const message = carriedOut === "unknown" ? unknownOutcome(operation.name, what) : what;
  const about = { operation: operation.name, message, ...(reason !== "" && { reason }) };
  if (error === "UnexpectedAnswer")
    return new UnexpectedAnswer({
      ...about,
      carriedOut: carriedOut === "no" ? "no" : "unknown",
      ...(body !== undefined && { answer: () => body }),
    });
  const refusedWith = code ?? status ?? CONFLICT;
  if (carriedOut !== "no")
    return new OutcomeUnknown({
      ...about,
      carriedOut: "unknown",
      ...(isOfEarlierSend && { code: refusedWith }),
    });
  switch (error) {
    case "RateLimited":
      return new RateLimited({
        ...about,
        carriedOut,
        message: `${operation.name} was rejected: too many requests; try again in ${Duration.format(Duration.millis(waitMs))}.`,
        retryAfter: waitMs,
        by: "service",
      });
    case "NotAuthenticated":
      return new NotAuthenticated({ ...about, carriedOut });
    case "RequestRefused":
      return new RequestRefused({ ...about, carriedOut, reason, code: refusedWith });
    case "Unavailable":
      return new Unavailable({ ...about, carriedOut, ...(status !== undefined && { status }) });
  }
};

/** A failed exchange as {@link OUTCOMES} has it. */
export const failedAs = (
  is: FailedClass,
  operation: Operation,
  details: Details,
  isSent = true,
): Failed => {
  const { code, status, waitMs } = details;
  const isTooMany = status === TOO_MANY || code === TOO_MANY;
  return failed(errorOf(is, operation, details), outcomeOf(is, operation.idempotency).retry, {
    isSent,
    status,
    waitMs: is === "rateLimited" ? (waitMs ?? DEFAULT_WAIT_MS) : waitMs,
    pauseMs: isTooMany ? (waitMs ?? DEFAULT_WAIT_MS) : undefined,
  });
};

/** The time of a call was over before a send. */
export const timeIsOver = ({ limit, operation }: Pick<Outgoing, "limit" | "operation">): Failed =>
  failedAs(
    "notSentUntilFixed",
    operation,
    { was: `not sent: the call's limit of ${limit?.timeoutMs} ms had passed` },
    false,
  );

/** Returns what it means that no whole answer came. A remedy is what a person has to do first. */
export const parseNoResponse = (
  operation: Operation,
  { reason, remedy, sent }: NoResponse,
): Failed => {
  const was = sent ? `sent, but ${reason}` : `not sent: ${reason}`;
  const is = sent ? "lost" : "notSent";
  return failedAs(remedy === undefined ? is : `${is}UntilFixed`, operation, { was, remedy }, sent);
};
