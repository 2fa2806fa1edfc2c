import { messageOf } from "@durable-payments/api-core/values";
import { type JsonObject, MadeByAnother, type SendOutcome } from "@durable-payments/ledger";
import { Guard, type GuardOptions } from "./guard.ts";
import { isPaymentsError, type Sending, type WriteOperation } from "./operation.ts";
import { growingWaitMs, waitAfterMs } from "./outcomes.ts";
import { keyOf } from "./request-fields.ts";

/** One send, which the ledger has said may be tried. */
interface Dispatch
  extends
    GuardOptions,
    Pick<Sending, "afterwards" | "isResend" | "options" | "request" | "sentForMs"> {
  readonly operation: WriteOperation;
  readonly generation: number;
}

/** What became of a send. */
export type Dispatched =
  /** The ledger has to hear it; `waitMs` is the shortest wait where nothing left. */
  | { readonly is: "answered"; readonly outcome: SendOutcome; readonly waitMs: number }
  /** The client got as far as no dispatch. `isUnsent`: the row is as it was looked at. */
  | {
      readonly is: "later";
      readonly message: string;
      readonly waitMs: number;
      readonly isUnsent: boolean;
    }
  /** The client does not send such a request. */
  | { readonly is: "invalid"; readonly message: string; readonly details: JsonObject };

const notDispatched = (message: string, waitMs = 0): Dispatched => ({
  is: "answered",
  outcome: { is: "notDispatched", message },
  waitMs,
});

/**
 * Sends a request once, behind the guard.
 *
 * @returns what became of it, also where the client threw.
 * @throws the reason of the attempt's signal, where it was aborted before a dispatch.
 */
export const dispatch = async (given: Dispatch): Promise<Dispatched> => {
  const { afterwards, attempt, call, isResend, operation, options, request, sentForMs } = given;
  const { signal } = attempt;
  const guard = new Guard(given);
  let outcome: SendOutcome;
  try {
    outcome = await operation.send({
      request,
      key: keyOf(call.name, given.generation),
      isResend,
      sentForMs,
      guard,
      options,
      attempt: attempt.attempt,
      afterwards,
    });
  } catch (error) {
    if (!guard.mayHaveBegun) {
      if (signal.aborted) throw signal.reason;
      if (guard.blocked !== undefined) return notDispatched(guard.blocked);
      if (!isPaymentsError(error)) throw error;
      const waitMs = waitAfterMs(error, attempt.attempt);
      return { is: "later", message: error.message, waitMs, isUnsent: true };
    }
    outcome =
      guard.blocked === undefined
        ? { is: "lost", message: messageOf(error) }
        : { is: "notDispatched", message: guard.blocked };
  }
  if (guard.mayHaveBegun) {
    return guard.blocked !== undefined && outcome.is === "later"
      ? notDispatched(guard.blocked)
      : { is: "answered", outcome, waitMs: 0 };
  }
  // The client did not get as far as a dispatch, or was not permitted to.
  if (signal.aborted) throw signal.reason;
  if (guard.blocked !== undefined) return notDispatched(guard.blocked);
  if (outcome.is === "later") return notDispatched(outcome.message, outcome.retryAfterMs);
  if (outcome.is === "refused") {
    return { is: "invalid", message: outcome.message, details: outcome.details };
  }
  const waitMs = growingWaitMs(attempt.attempt);
  return { is: "later", message: `It was not sent (${outcome.is}).`, waitMs, isUnsent: false };
};

/** Waits before the outcome of a send is written again, where the ledger did not answer. */
const AGAIN_AFTER_MS = [100, 1_000, 5_000];

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * Writes the outcome of a send, which is a fact that only this process has: again, where the ledger does not answer.
 *
 * @returns what `write` returns.
 * @throws the last error of `write`; `MadeByAnother` at once.
 */
export const writeAgain = async <A>(write: () => Promise<A>): Promise<A> => {
  for (const waitMs of AGAIN_AFTER_MS) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof MadeByAnother) throw error;
      await pause(waitMs);
    }
  }
  return write();
};
