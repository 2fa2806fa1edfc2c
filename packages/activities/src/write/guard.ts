import { BeforeSend, type OperationName, Unavailable } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import type { Call, Ledger, WritePolicy } from "@durable-payments/ledger";
import { Effect } from "effect";
import { advanceRow } from "./advance-row.ts";

/** An attempt of the activity of a write, or the janitor's. */
export interface Attempt {
  /** The run that it works in, and its workflow id: a child's own. */
  readonly runId: string;
  readonly workflowId: string;
  /** Type of its workflow, unknown to the janitor. */
  readonly workflowType?: string | undefined;
  /** 1 for the first. */
  readonly attempt: number;
  /** What Temporal says of the row. */
  readonly testimony: Call["testimony"];
  /** When it began, by both clocks of the worker: milliseconds. */
  readonly startedAt: { readonly wall: number; readonly monotonic: number };
  /** Aborts when it is cancelled, or its worker shuts down. */
  readonly signal: AbortSignal;
  /** Leaves the row's version for the next attempt: nothing was sent since it; 0: there is no row. */
  readonly heartbeat: (version: number) => void;
  /** Asks Temporal whether its run is open. Rejects where Temporal does not answer. */
  readonly isRunOpen: () => Promise<boolean>;
}

/** A dispatch leaves within this time of its attempt's start, by both clocks. */
const DISPATCH_WITHIN_MS = 10_000;

/** A look at the ledger that took longer is made again: the process may have stood still within it. */
const LOOK_WITHIN_MS = 500;

/** A dispatch within this time follows at once on its attempt's start: its run was open then. */
const AT_ONCE_MS = 1_000;

/** Returns the type of the run that a row is named by, to be recorded with it: a child knows only its own. */
export const typeOfRun = (
  { workflowId, workflowType }: Attempt,
  { name }: Pick<Call, "name">,
): string | undefined => (workflowId === name.workflowId ? workflowType : undefined);

/** What a guard works with. */
export interface GuardOptions {
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
 * everything that may forbid the send, and commits that it is sent. Where Temporal or the ledger does not answer,
 * nothing is sent.
 */
export class Guard {
  readonly #options: GuardOptions;
  #isAsked = false;
  #hasGone = false;
  #isStopped = false;
  #blocked: string | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Whether the ledger may have committed that it is sent: then it has to hear what became of it. */
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

  /** The attempt's signal: a send that has begun is not broken off by it. */
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

  /**
   * Asks for one dispatch, which has to follow at once.
   *
   * @param what how the log names it, where nothing is sent.
   * @throws Error with the reason, where it must not be sent.
   */
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
          throw new Error(`Temporal does not say whether its run is open: ${messageOf(error)}`);
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
    const { effect } = await advanceRow(ledger, call.name, event, policy, typeOfRun(attempt, call));
    if (effect.is === "go") {
      this.#hasGone = true;
      return;
    }
    this.#isStopped = true;
    throw new Error(effect.is === "stop" ? effect.why : "The ledger did not permit it.");
  }
}
