import { PaymentsClient, type PaymentsError } from "@durable-payments/api-core";
import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { Cause, Effect, Exit, type ManagedRuntime, Result } from "effect";

/** The one runtime of a worker's activities: it holds the client, its session and its connections. */
export type PaymentsRuntime = ManagedRuntime.ManagedRuntime<PaymentsClient, unknown>;

/** Longest time between two heartbeats; a cancellation arrives with the answer to one. */
const HEARTBEAT_EVERY_MS = 3_000;

/**
 * Runs a call of the client inside an activity: heartbeats while it lasts, and passes on the
 * activity's cancellation, which closes the HTTP request at once.
 *
 * @throws CancelledFailure when the activity was cancelled; otherwise what `toFailure` makes of
 *   the client's error.
 */
export const runInActivity = async <A>(
  runtime: PaymentsRuntime,
  call: (client: PaymentsClient["Service"]) => Effect.Effect<A, PaymentsError>,
  toFailure: (error: PaymentsError) => Error,
): Promise<A> => {
  const activity = Context.current();
  const heart = setInterval(() => activity.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    const exit = await runtime.runPromiseExit(
      Effect.flatMap(PaymentsClient, (client) => Effect.result(call(client))),
      { signal: activity.cancellationSignal },
    );
    if (Exit.isSuccess(exit)) {
      if (Result.isSuccess(exit.value)) return exit.value.success;
      throw toFailure(exit.value.failure);
    }
    const reason: unknown = activity.cancellationSignal.reason;
    // An interruption is the cancellation; it must not be recorded as a failure to be retried.
    if (Cause.hasInterrupts(exit.cause) && reason instanceof CancelledFailure) throw reason;
    throw Cause.squash(exit.cause);
  } finally {
    clearInterval(heart);
  }
};
