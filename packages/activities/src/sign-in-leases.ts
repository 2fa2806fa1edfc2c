import { type ClientOptions, RateLimited, Unavailable } from "@durable-payments/api-core";
import { SIGN_IN_LEASE_TYPE, signInLeaseId, temporalReason } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { Data, Effect, Random } from "effect";

/** How many sign-ins there may be. */
export interface SignInBudget {
  /** Most sign-ins in any 60 seconds, of all processes together; default 40 of the service's 50. */
  readonly perMinute?: number | undefined;
  /**
   * For how long a lease is held, in milliseconds; default 80,000: the minute in which the service
   * counts, and as long as a sign-in may be on its way.
   */
  readonly heldMs?: number;
}

const DEFAULT_PER_MINUTE = 40;
const DEFAULT_HELD_MS = 80_000;

/** Of a large budget that is nearly used up, not every lease is asked for, but asked for soon again. */
const MOST_TRIES = 8;

/** A lease that is not granted within this time is of no use: it might be too old. */
const GRANTED_WITHIN_MS = 10_000;

const about = { operation: "signIn", carriedOut: "no" } as const;

class CannotAsk extends Data.TaggedError("CannotAsk")<{ readonly cause: unknown }> {
  get reason(): string {
    return temporalReason(this.cause);
  }
}

/**
 * Make the leases to sign in, of one budget for all processes that share an account and a Temporal
 * namespace. The effect is provided to a client as its `SignInLease`.
 *
 * A lease is a workflow without code and without worker, which runs until Temporal times it out:
 * of each of the budget's ids Temporal lets only one run at a time, however many processes ask and
 * however often they crash. Where Temporal does not answer there is no sign-in: the activity that
 * needs it could not report what it did either.
 */
export const makeSignInLeases = (
  client: Client,
  account: Pick<ClientOptions, "baseUrl" | "clientId">,
  { heldMs = DEFAULT_HELD_MS, perMinute = DEFAULT_PER_MINUTE }: SignInBudget = {},
): Effect.Effect<void, RateLimited | Unavailable> => {
  const hash = accountHash(account);

  const startLease = async (number: number): Promise<boolean> => {
    try {
      await client.withDeadline(Date.now() + GRANTED_WITHIN_MS, () =>
        client.workflow.start(SIGN_IN_LEASE_TYPE, {
          workflowId: signInLeaseId(hash, number),
          // Polled by nobody: the lease ends by its timeout.
          taskQueue: `sign-in/${hash}`,
          workflowExecutionTimeout: heldMs,
          workflowIdConflictPolicy: "FAIL",
          workflowIdReusePolicy: "ALLOW_DUPLICATE",
          staticSummary: "A sign-in to the payment service: one of the budget of all workers",
          staticDetails:
            "Moves no money. While it runs, one sign-in of the minute is taken; nobody executes it, and it is over when it has timed out: that is no failure. docs/production.md, Sign-ins",
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  };

  const take = (number: number) =>
    Effect.tryPromise({
      try: () => startLease(number),
      catch: (cause) => new CannotAsk({ cause }),
    });

  return Effect.gen(function* () {
    // Everybody begins elsewhere: mostly the first one asked for is free.
    const numbers = yield* Random.shuffle(Array.from({ length: perMinute }, (_, index) => index));
    for (const number of numbers.slice(0, MOST_TRIES)) if (yield* take(number)) return;
    return yield* new RateLimited({
      ...about,
      message: `No sign-in was sent: all workers together make ${perMinute} in a minute at most. Check why tokens are rejected, workers restart, or something else runs as ${signInLeaseId(hash, 0)} and the like for longer than ${Math.ceil(heldMs / 1000)} s: terminate that.`,
      // Not all at once again.
      retryAfter: (heldMs / perMinute) * (1 + (yield* Random.next)),
    });
  }).pipe(
    Effect.catchTag(
      "CannotAsk",
      ({ reason }) =>
        new Unavailable({
          ...about,
          message: `No sign-in was sent: Temporal was asked for a lease and gave none (${reason}).`,
        }),
    ),
  );
};
