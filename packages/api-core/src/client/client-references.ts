import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { NotAuthenticated, PaymentsError, RateLimited, Unavailable } from "./errors.ts";
import type { OperationName } from "./operations.ts";

/**
 * A check that runs before every dispatch of an operation that is not `safe`, retries included:
 * after the input check, the waits, the sign-in and the wait for a connection, which is open by
 * then. Nothing is awaited between its success and the first byte; where the process was suspended
 * for more than a second in between, nothing is sent. By default it does nothing.
 *
 * Its failure ends the call without this send and without another one. Where an earlier send of the
 * same call is in doubt, the call fails with `OutcomeUnknown`; otherwise with that failure.
 *
 * @example
 * const guarded = Effect.provideService(client.createPayout(payout), BeforeSend, (operation) =>
 *   isPaused() ? Effect.fail(paused(operation)) : Effect.void,
 * );
 */
export const BeforeSend = Context.Reference<
  (operation: OperationName) => Effect.Effect<void, PaymentsError>
>("@durable-payments/api-core/BeforeSend", { defaultValue: () => () => Effect.void });

/**
 * Whether an earlier call, of any process, may have sent the same request with the same
 * `unique_request_id`: then a refusal that speaks of a known key leaves the outcome unknown. False
 * by default: such words in the response to a first send are a refusal like any other.
 */
export const IsResend = Context.Reference<boolean>("@durable-payments/api-core/IsResend", {
  defaultValue: () => false,
});

/** Why there is no token. Whatever became of the sign-in, the call that needed it was not sent. */
export type SignInError = NotAuthenticated | RateLimited | Unavailable;

/**
 * An effect that leases one sign-in of a budget which several processes share. It runs before each
 * sign-in, at most once at a time; the sign-in is sent at once where it succeeds, and its error is
 * that of the calls that wait. By default it always succeeds. Provide it to the layer of a client.
 */
export const SignInLease = Context.Reference<Effect.Effect<void, SignInError>>(
  "@durable-payments/api-core/SignInLease",
  { defaultValue: () => Effect.void },
);
