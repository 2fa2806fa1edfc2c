/*
 * One send of a write, behind the guard, and the outcome that the ledger records of it.
 *
 * The client may fail before the guard was asked, be blocked by it, or fail after it: each says something else about
 * whether a byte may have left.
 */
import { isPaymentsError } from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import {
  grownWait,
  type JsonObject,
  MadeByAnother,
  type SendOutcome,
} from "@durable-payments/ledger";
import { failureTypes, type WriteOptions } from "@durable-payments/protocol/calls";
import { setTimeout as sleep } from "node:timers/promises";
import type { Guard } from "./guard.ts";
import { waitAfterMs } from "./outcomes.ts";

/** One send of a write. */
export interface Dispatch {
  readonly request: JsonObject;
  /** The key of this generation: 36 characters. */
  readonly key: string;
  /** Whether an earlier send with this key may have reached the service. */
  readonly isResend: boolean;
  /** Age of the row of an earlier send, in milliseconds; undefined if nothing was sent. */
  readonly sentForMs: number | undefined;
  readonly guard: Guard;
  readonly options: WriteOptions;
  /** The number of the attempt: waits grow with it. */
  readonly attempt: number;
  /** Runs a function once the ledger has the outcome. */
  readonly afterwards: (release: () => Promise<unknown>) => unknown;
}

/** Waits before the outcome of a send is written again if the ledger did not respond. */
const AGAIN_AFTER_MS = [100, 1_000, 5_000];

/** Writes the outcome of a send, a fact that only this process has: again, if the ledger does not respond. */
export const writeAgain = async <A>(write: () => Promise<A>): Promise<A> => {
  for (const waitMs of AGAIN_AFTER_MS) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof MadeByAnother) throw error;
      await sleep(waitMs);
    }
  }
  return write();
};

/** Errors that end an attempt without a dispatch. */
interface DispatchEnds {
  readonly notYet: (why: string, delayMs: number, isUnsent: boolean) => Error;
  readonly fail: (type: string, message: string, details?: JsonObject) => Error;
  /** Whether nothing of the row was sent before. */
  readonly isUnsent: boolean;
}

/**
 * Sends a request once, behind the guard.
 *
 * | | dispatch permitted, or the ledger's answer unknown | not permitted | not asked for |
 * |---|---|---|---|
 * | blocked by the guard | not dispatched, unless an earlier dispatch was lost | not dispatched | the same |
 * | later | the outcome | – | not dispatched |
 * | any other outcome, or error | the outcome; an error is a lost one | – | throws |
 *
 * @returns the outcome to record, and the shortest wait in milliseconds if no byte left.
 * @throws the reason of the attempt's signal if it was aborted before a dispatch; NotYet or StepFailed if the client did
 *   not reach the dispatch.
 */
export const dispatchOnce = async (
  send: (dispatch: Dispatch) => Promise<SendOutcome>,
  dispatch: Dispatch,
  { fail, isUnsent, notYet }: DispatchEnds,
): Promise<[outcome: SendOutcome, waitMs: number]> => {
  const { attempt, guard } = dispatch;
  const { signal } = guard;
  let outcome: SendOutcome;
  try {
    outcome = await send(dispatch);
  } catch (error) {
    if (!guard.mayHaveBegun && guard.blocked === undefined && !signal.aborted) {
      if (!isPaymentsError(error)) throw error;
      throw notYet(error.message, waitAfterMs(error, attempt), isUnsent);
    }
    outcome = { is: guard.blocked === undefined ? "lost" : "later", message: messageOf(error) };
  }
  const { blocked, mayHaveBegun } = guard;
  if (!mayHaveBegun && signal.aborted) throw signal.reason;
  if (blocked !== undefined && (!mayHaveBegun || outcome.is === "later"))
    return [{ is: "notDispatched", message: blocked }, mayHaveBegun ? grownWait(attempt) : 0];
  if (mayHaveBegun) return [outcome, 0];
  switch (outcome.is) {
    case "later":
      return [{ is: "notDispatched", message: outcome.message }, outcome.retryAfterMs ?? 0];
    case "refused":
      throw fail(failureTypes.invalidRequest, outcome.message, outcome.details);
    default:
      throw notYet(`It was not sent (${outcome.is}).`, grownWait(attempt), false);
  }
};
