import { messageOf } from "@durable-payments/api-core/values";
import {
  type Call,
  type JsonObject,
  type Ledger,
  MadeByAnother,
  type SendOutcome,
  type WritePolicy,
} from "@durable-payments/ledger";
import type { WriteOptions } from "@durable-payments/protocol/calls";
import { type Attempt, Guard } from "./guard.ts";
import { isPaymentsError, type WriteOperation } from "./operation.ts";
import { growingWaitMs, waitAfterMs } from "./outcomes.ts";
import { keyOf } from "./request-fields.ts";

/** One send, which the ledger has said may be tried. */
export interface Dispatch {
  readonly ledger: Ledger;
  readonly who: string;
  readonly attempt: Attempt;
  readonly operation: WriteOperation;
  readonly call: Call;
  readonly policy: WritePolicy;
  readonly options: WriteOptions;
  readonly request: JsonObject;
  readonly generation: number;
  readonly isResend: boolean;
  readonly sentForMs: number | undefined;
  /** `epoch:random`, new with each send. */
  readonly token: string;
  /** Runs something once the ledger has the outcome. */
  readonly afterwards: (release: () => Promise<void>) => void;
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
  const { attempt, call, generation, isResend, ledger, operation, policy, token, who } = given;
  const { signal } = attempt;
  const guard = new Guard({ ledger, attempt, call, policy, who, token });
  let outcome: SendOutcome;
  try {
    outcome = await operation.send({
      request: given.request,
      key: keyOf(call.name, generation),
      isResend,
      sentForMs: given.sentForMs,
      guard,
      options: given.options,
      attempt: attempt.attempt,
      afterwards: given.afterwards,
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
