/*
 * Whether a request is sent again, and what the call has failed with otherwise.
 *
 * The class of the last response does not decide that alone. An earlier send of the same call may have taken effect,
 * even if the last one was refused. So each send hands the state of the call on: {@link CallState}. The table of
 * outcomes says which classes permit another send.
 */
import * as Effect from "effect/Effect";
import * as Random from "effect/Random";
import { monotonicMs } from "./clock.ts";
import type { ClientOptions } from "./config.ts";
import { NotAuthenticated, OutcomeUnknown, type PaymentsError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Failed } from "./outcomes.ts";
import { failedAs } from "./failures.ts";
import type { TokenRejected } from "./parse-response.ts";
import type { Say } from "./say.ts";
import type { Answer, Send } from "./send.ts";
import { unknownOutcome } from "./unknown-outcome.ts";

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
const errorOfCall = (error: PaymentsError, isInDoubt: boolean): PaymentsError =>
  isInDoubt && error.carriedOut === "no"
    ? new OutcomeUnknown({
        operation: error.operation,
        carriedOut: "unknown",
        message: unknownOutcome(
          error.operation,
          `${error.operation} got no response to an earlier send; then: ${error.message}`,
        ),
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
 * Sends a request until it has succeeded, or may not be sent again. How far the call has come is a value that each send
 * hands on to the next.
 */
export const withRetry =
  (send: Send<Answer, Failed | TokenRejected>, options: ClientOptions, say: Say) =>
  (request: Parameters<typeof send>[0]): Effect.Effect<Answer, PaymentsError> => {
    const { limit, maxAttempts, operation: called } = request;
    const limits = { ...options, maxAttempts };
    const from = (state: CallState, isResend: boolean): Effect.Effect<Answer, PaymentsError> => {
      const { hasFreshToken, tries } = state;
      return send({ ...request, attempt: tries, hasFreshToken, isResend }).pipe(
        Effect.catch(
          Effect.fnUntraced(function* (failure): Effect.fn.Return<Answer, PaymentsError> {
            const next = nextStep(failure, state, limits, yield* Random.next);
            if (!next.isAgain) return yield* Effect.fail(next.error);
            const isToken = failure._tag === "TokenRejected";
            const isInDoubt =
              state.isInDoubt ||
              (isToken ? failure.isInDoubt : failure.error.carriedOut === "unknown");
            if (!isToken) {
              const now = yield* Effect.clockWith((clock) => Effect.succeed(monotonicMs(clock)));
              if (limit !== undefined && now + next.waitMs >= limit.endsAt) {
                return yield* Effect.fail(errorOfCall(failure.error, isInDoubt));
              }
              yield* say.debug(
                `${called.name}: send ${tries} failed (${failure.error.message}); again in ${Math.round(next.waitMs)} ms.`,
              );
              yield* Effect.sleep(next.waitMs);
            }
            const after = { called, tries: tries + 1, isInDoubt, hasFreshToken: isToken };
            return yield* from(after, isResend || isToken || failure.isSent);
          }),
        ),
      );
    };
    const first = { called, tries: 1, isInDoubt: false, hasFreshToken: request.hasFreshToken };
    return from(first, request.isResend);
  };
