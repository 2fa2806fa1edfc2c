import {
  advance,
  type WriteAction,
  type Ledger,
  type Look,
  type WriteEvent,
  type WriteName,
  type WriteOwner,
  type WritePolicy,
  type Call,
  LEAVES_WITHIN_MS,
  type Root,
} from "@durable-payments/ledger";
import { BeforeSend, type OperationName, Unavailable } from "@durable-payments/client/effect";
import { messageOf, PERMITTED_FOR_MS } from "@durable-payments/client/values";
import { Effect } from "effect";

/** The mark in result and log if a person gave an id that could not be read or compared. */
export const NOT_CONFIRMED = { not_confirmed: true } as const;

/** Applies an event to a row in one transaction. Throws LedgerUnavailable, and MadeByAnother. */
export const advanceRow = async (
  ledger: Ledger,
  name: WriteName,
  event: WriteEvent,
  policy: WritePolicy,
  attempt?: Pick<Attempt, "workflowId" | "workflowType">,
  owner?: WriteOwner,
): Promise<{ readonly look: Look; readonly action: WriteAction }> => {
  let action: WriteAction | undefined;
  const isUnread = event.is === "checked" && "not_confirmed" in event.result;
  const look = await ledger.transact(
    name,
    (seen) => {
      const { action: next, entries, row } = advance(seen, event, policy);
      action = next;
      return {
        ...(row !== undefined && { row }),
        entries: isUnread
          ? entries.map((one) => ({ ...one, details: { ...one.details, ...NOT_CONFIRMED } }))
          : entries,
        workflowType: attempt?.workflowType,
      };
    },
    owner,
  );
  if (action === undefined) throw new Error("The ledger made no decision.");
  return { look, action };
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
  /** Asks Temporal for the root of its run. Rejects if Temporal does not respond. */
  readonly root: () => Promise<Root>;
  /**
   * Asks Temporal whether its run is open, and when it began, in milliseconds since 1970. Rejects if Temporal does not
   * answer.
   */
  readonly describe: () => Promise<{ readonly isOpen: boolean; readonly begunAt: number }>;
}

/** A dispatch is permitted within this time of its attempt's start, by both clocks. */
const PERMITTED_WITHIN_MS = LEAVES_WITHIN_MS - PERMITTED_FOR_MS;

/** A slower look at the ledger is repeated: a pause or a stop order may have come during it. */
const LOOK_WITHIN_MS = PERMITTED_FOR_MS;

/** A dispatch within this time counts as immediate: its run was open at the start of the attempt. */
const AT_ONCE_MS = 1_000;

/** Milliseconds since a time, by the clock that says more: the process or its machine may have stood still. */
const msSince = ({ monotonic, wall }: Attempt["startedAt"]): number =>
  Math.max(Math.abs(Date.now() - wall), performance.now() - monotonic);

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
 * The fence: the client runs it before each dispatch of one call, after sign-in and waits. If Temporal or the ledger does
 * not answer, nothing is sent.
 *
 * | look | when | what it does |
 * |---|---|---|
 * | commit | first | checks everything that may forbid the send, and commits `sending`, in one transaction |
 * | reading | after a slow look, or before another dispatch of the call | checks the same again, and changes nothing |
 *
 * A ledger may take seconds to commit. A pause that is confirmed in between must hold, so a slow reading is followed by
 * another. That is a reading, which waits for no disk: committing again would take as long each time, and never send.
 */
export class Guard {
  readonly #options: GuardOptions;
  #phase: "unasked" | "asked" | "permitted" | "stopped" = "unasked";
  /** Why the last dispatch was not permitted. */
  blocked: string | undefined;
  /** The attempt's signal; it does not abort a send that has begun. */
  readonly signal: AbortSignal;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.signal = options.attempt.signal;
  }

  /** Whether the ledger may have committed `sending`: then the outcome must be recorded. */
  get mayHaveBegun(): boolean {
    return this.#phase === "asked" || this.#phase === "permitted";
  }

  /** Whether the ledger was asked at all. */
  get isAsked(): boolean {
    return this.#phase !== "unasked";
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
    this.blocked = undefined;
    try {
      await this.#check(what);
    } catch (error) {
      this.blocked = messageOf(error);
      throw error;
    }
  }

  async #check(what?: string): Promise<void> {
    const { attempt } = this.#options;
    let lookedAt: Attempt["startedAt"];
    do {
      if (attempt.signal.aborted) throw new Error("Its activity was cancelled.");
      this.#checkTime();
      if (msSince(attempt.startedAt) > AT_ONCE_MS) {
        const { isOpen } = await attempt.describe().catch((error: unknown) => {
          throw new Error(`Temporal did not confirm that its run is open: ${messageOf(error)}`);
        });
        if (!isOpen) throw new Error("Its run has ended.");
      }
      lookedAt = { wall: Date.now(), monotonic: performance.now() };
      await this.#look(what);
      this.#checkTime();
    } while (msSince(lookedAt) > LOOK_WITHIN_MS);
  }

  #checkTime(): void {
    if (msSince(this.#options.attempt.startedAt) > PERMITTED_WITHIN_MS)
      throw new Error(
        `More than ${PERMITTED_WITHIN_MS / 1_000} s have passed since its attempt began.`,
      );
  }

  async #look(what?: string): Promise<void> {
    const { attempt, call, ledger, policy, token, who } = this.#options;
    const isHeld = this.#phase === "permitted";
    if (!isHeld) this.#phase = "asked";
    const { action } = isHeld
      ? advance(await ledger.look(call.name, call), { is: "leaving", who, token, call }, policy)
      : await advanceRow(
          ledger,
          call.name,
          { is: "dispatching", who, token, call, ...(what !== undefined && { what }) },
          policy,
          attempt,
          call,
        );
    if (action.is !== "go") {
      if (!isHeld) this.#phase = "stopped";
      throw new Error(action.is === "stop" ? action.why : "The ledger did not permit it.");
    }
    this.#phase = "permitted";
  }
}
