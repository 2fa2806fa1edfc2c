import {
  advance,
  type Effect as NextEffect,
  type Ledger,
  type Look,
  type WriteEvent,
  type WriteName,
  type WritePolicy,
  type Call,
  type JsonObject,
  grownWait,
  MadeByAnother,
  type SendOutcome,
} from "@durable-payments/ledger";
import type { WriteOptions } from "@durable-payments/protocol/calls";
import { BeforeSend, type OperationName, Unavailable } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { Effect } from "effect";
import { setTimeout as sleep } from "node:timers/promises";
import { isPaymentsError, waitAfterMs } from "./outcomes.ts";

/** The mark in result and log if a person gave an id that could not be read or compared. */
export const NOT_CONFIRMED = { not_confirmed: true } as const;

/** Applies an event to a row in one transaction. Throws LedgerUnavailable, and MadeByAnother. */
export const advanceRow = async (
  ledger: Ledger,
  name: WriteName,
  event: WriteEvent,
  policy: WritePolicy,
  attempt?: Pick<Attempt, "workflowId" | "workflowType">,
): Promise<{ readonly look: Look; readonly effect: NextEffect }> => {
  let effect: NextEffect | undefined;
  const isUnread = event.is === "checked" && "not_confirmed" in event.result;
  const look = await ledger.transact(name, (seen) => {
    const { effect: next, entries, row } = advance(seen, event, policy);
    effect = next;
    return {
      ...(row !== undefined && { row }),
      entries: isUnread
        ? entries.map((one) => ({ ...one, details: { ...one.details, ...NOT_CONFIRMED } }))
        : entries,
      // The root run is recorded with the row: a child knows only its own type.
      workflowType: attempt?.workflowId === name.workflowId ? attempt.workflowType : undefined,
    };
  });
  if (effect === undefined) throw new Error("The ledger made no decision.");
  return { look, effect };
};

/** An attempt of the activity of a write, or the janitor's. */
export interface Attempt {
  /** The run that it works in, and its workflow id: a child's own. */
  readonly runId: string;
  readonly workflowId: string;
  /** Type of its workflow, unknown to the janitor. */
  readonly workflowType?: string | undefined;
  /** 1 for the first. */
  readonly attempt: number;
  /** Temporal's word about the row. */
  readonly testimony: Call["testimony"];
  /** When it began, by both clocks of the worker: milliseconds. */
  readonly startedAt: { readonly wall: number; readonly monotonic: number };
  /** Aborts when it is cancelled, or its worker shuts down. */
  readonly signal: AbortSignal;
  /** Leaves the row's version, since which nothing was sent, for the next attempt; 0 without a row. */
  readonly heartbeat: (version: number) => void;
  /** Asks Temporal whether its run is open. Rejects if Temporal does not answer. */
  readonly isRunOpen: () => Promise<boolean>;
}

/** A dispatch leaves within this time of its attempt's start, by both clocks. */
const DISPATCH_WITHIN_MS = 10_000;

/** A slower look at the ledger is repeated: the process may have been frozen during it. */
const LOOK_WITHIN_MS = 500;

/** A dispatch within this time counts as immediate: its run was open at the start of the attempt. */
const AT_ONCE_MS = 1_000;

/** Dependencies of a guard. */
interface GuardOptions {
  readonly ledger: Ledger;
  readonly attempt: Attempt;
  readonly call: Call;
  readonly policy: WritePolicy;
  readonly who: string;
  /** `epoch:random`, new with each call of the client. */
  readonly token: string;
}

/**
 * The fence: it runs before each dispatch of one call of the client. In one transaction of the ledger it checks
 * everything that may forbid the send, and commits `sending`. If Temporal or the ledger does not answer, nothing is
 * sent.
 */
class Guard {
  readonly #options: GuardOptions;
  #isAsked = false;
  #hasGone = false;
  #isStopped = false;
  #blocked: string | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Whether the ledger may have committed `sending`: then the outcome must be recorded. */
  get mayHaveBegun(): boolean {
    return this.#hasGone || (this.#isAsked && !this.#isStopped);
  }

  /** Whether the ledger was asked at all. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Why the last dispatch was not permitted. */
  get blocked(): string | undefined {
    return this.#blocked;
  }

  /** The attempt's signal; it does not abort a send that has begun. */
  get signal(): AbortSignal {
    return this.#options.attempt.signal;
  }

  /** Guards each dispatch of a call of the client. */
  readonly guarded = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.provideService(call, BeforeSend, (operation: OperationName) =>
      Effect.tryPromise({
        try: () => this.permit(),
        catch: (error) =>
          new Unavailable({
            operation,
            carriedOut: "no",
            message: `${operation} was not sent: ${messageOf(error)}`,
          }),
      }),
    );

  /** Asks for one dispatch, which has to follow at once; rejects with the reason if it must not. `what`: see the event. */
  async permit(what?: string): Promise<void> {
    this.#blocked = undefined;
    try {
      await this.#check(what);
    } catch (error) {
      this.#blocked = messageOf(error);
      throw error;
    }
  }

  async #check(what?: string): Promise<void> {
    const { attempt } = this.#options;
    for (;;) {
      if (attempt.signal.aborted) throw new Error("Its activity was cancelled.");
      if (performance.now() - attempt.startedAt.monotonic > AT_ONCE_MS) {
        const isOpen = await attempt.isRunOpen().catch((error: unknown) => {
          throw new Error(`Temporal did not confirm that its run is open: ${messageOf(error)}`);
        });
        if (!isOpen) throw new Error("Its run has ended.");
      }
      const asked = { wall: Date.now(), monotonic: performance.now() };
      await this.#commit(what);
      const tookMs = Math.max(
        Math.abs(Date.now() - asked.wall),
        performance.now() - asked.monotonic,
      );
      const sinceStartMs = Math.max(
        Math.abs(Date.now() - attempt.startedAt.wall),
        performance.now() - attempt.startedAt.monotonic,
      );
      if (sinceStartMs > DISPATCH_WITHIN_MS) {
        throw new Error("More than 10 s have passed since its attempt began.");
      }
      if (tookMs <= LOOK_WITHIN_MS) return;
    }
  }

  async #commit(what?: string): Promise<void> {
    const { attempt, call, ledger, policy, token, who } = this.#options;
    this.#isAsked = true;
    const event = {
      is: "dispatching",
      who,
      token,
      call,
      ...(what !== undefined && { what }),
    } as const;
    const { effect } = await advanceRow(ledger, call.name, event, policy, attempt);
    if (effect.is === "go") {
      this.#hasGone = true;
      return;
    }
    this.#isStopped = true;
    throw new Error(effect.is === "stop" ? effect.why : "The ledger did not permit it.");
  }
}

/** One send of a write. */
export interface Sending {
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
  readonly afterwards: (release: () => Promise<void>) => void;
}

/** One send, which the ledger has said may be tried. */
interface Dispatch extends GuardOptions, Omit<Sending, "attempt" | "guard"> {
  readonly operation: { readonly send: (sending: Sending) => Promise<SendOutcome> };
}

/** The outcome of a send. */
export type Dispatched =
  /** It must be recorded; `waitMs` is the shortest wait if no byte left. */
  | { readonly is: "answered"; readonly outcome: SendOutcome; readonly waitMs: number }
  /** The client did not reach a dispatch. `isUnsent`: the row has not changed. */
  | {
      readonly is: "later";
      readonly message: string;
      readonly waitMs: number;
      readonly isUnsent: boolean;
    }
  /** The client rejects the request. */
  | { readonly is: "invalid"; readonly message: string; readonly details: JsonObject };

const notDispatched = (message: string, waitMs = 0): Dispatched => ({
  is: "answered",
  outcome: { is: "notDispatched", message },
  waitMs,
});

/** Sends a request once, behind the guard. Throws the reason of the attempt's signal if it was aborted before a dispatch. */
export const dispatch = async (given: Dispatch): Promise<Dispatched> => {
  const { attempt, operation, ...sending } = given;
  const { signal } = attempt;
  const guard = new Guard(given);
  let outcome: SendOutcome;
  try {
    outcome = await operation.send({ ...sending, guard, attempt: attempt.attempt });
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
  const waitMs = grownWait(attempt.attempt);
  return { is: "later", message: `It was not sent (${outcome.is}).`, waitMs, isUnsent: false };
};

/** Waits before the outcome of a send is written again if the ledger did not answer. */
const AGAIN_AFTER_MS = [100, 1_000, 5_000];

/** Writes the outcome of a send, which is a fact that only this process has: again, if the ledger does not answer. */
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
