import * as Effect from "effect/Effect";
import * as RateLimiter from "effect/persistence/RateLimiter";
import type { ClientOptions } from "./config.ts";
import { NotAuthenticated, OutcomeUnknown, type PaymentsError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Failed } from "./outcomes.ts";
import { failedAs, type TokenRejected } from "./parse-response.ts";

/** How far a call has come when one of its sends, or the sign-in for it, has failed. */
export interface CallState {
  readonly called: Operation;
  /** How many sends there were, and sign-ins that failed before one. */
  readonly tries: number;
  /** Whether this send had a fresh token, because the token of the one before was rejected. */
  readonly hasFreshToken: boolean;
  /** Whether an earlier send may have taken effect. */
  readonly isInDoubt: boolean;
}

/** The step after a failed send: the same request again, or the failure of the call. */
export type NextStep =
  | { readonly isAgain: true; readonly waitMs: number }
  | { readonly isAgain: false; readonly error: PaymentsError };

/**
 * Returns the error of a call whose last send failed. It speaks of the last send only: if an earlier one may
 * have taken effect, then the call may have.
 */
export const errorOfCall = (error: PaymentsError, isInDoubt: boolean): PaymentsError =>
  isInDoubt && error.carriedOut === "no"
    ? new OutcomeUnknown({
        operation: error.operation,
        carriedOut: "unknown",
        message: `${error.operation} got no response to an earlier send; then: ${error.message}`,
      })
    : error;

/**
 * Decides whether a request is sent again.
 *
 * @param random from 0 to 1
 * @returns a wait, exponential with full jitter, on top of what the service asks for
 */
export const nextStep = (
  failure: Failed | TokenRejected,
  { called, hasFreshToken, isInDoubt, tries }: CallState,
  {
    maxAttempts,
    maxRetryWaitMs,
    retryBaseMs,
  }: Pick<ClientOptions, "maxAttempts" | "maxRetryWaitMs" | "retryBaseMs">,
  random: number,
): NextStep => {
  const fail = (error: PaymentsError, isUnknown = isInDoubt): NextStep => ({
    isAgain: false,
    error: errorOfCall(error, isUnknown),
  });
  if (failure._tag === "Failed") {
    const { error, retry, waitMs = 0 } = failure;
    const mayRepeat =
      retry === "always" || (retry === "ifIdempotent" && called.idempotency !== "none");
    if (!mayRepeat || tries >= maxAttempts || waitMs > maxRetryWaitMs) return fail(error);
    const backOffMs = random * retryBaseMs * 2 ** (tries - 1);
    return { isAgain: true, waitMs: Math.min(maxRetryWaitMs, waitMs + backOffMs) };
  }
  const { reason } = failure;
  if (failure.isInDoubt && called.idempotency === "none") {
    const remedy =
      "A gateway may reject a token after the service has executed the request. The next request signs in again.";
    return fail(failedAs("tokenRejectedByGateway", called, { was: reason, remedy }).error);
  }
  if (!hasFreshToken && tries < maxAttempts) return { isAgain: true, waitMs: 0 };
  const why = hasFreshToken
    ? `a fresh token was rejected too (${reason}).`
    : `its token was rejected (${reason}), and maxAttempts allows no further send. The next call signs in again.`;
  return fail(
    new NotAuthenticated({
      operation: called.name,
      carriedOut: "no",
      message: `${called.name}: ${why}`,
    }),
    isInDoubt || failure.isInDoubt,
  );
};

/**
 * Spaces the requests out: evenly, as a bucket that held a second's worth would let twice as many
 * through in one second. Above one a millisecond, a few go together.
 */
export const makeRateLimiter = (
  limiter: RateLimiter.RateLimiter,
  { requestsPerSecond }: Pick<ClientOptions, "requestsPerSecond">,
): Effect.Effect<unknown> => {
  if (requestsPerSecond === 0) return Effect.void;
  const together = Math.ceil(requestsPerSecond / 1000);
  return Effect.orDie(
    RateLimiter.sleep(limiter, {
      key: "requests",
      algorithm: "token-bucket",
      limit: together,
      window: (together * 1000) / requestsPerSecond,
    }),
  );
};
