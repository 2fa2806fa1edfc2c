import type { StandardSchemaV1 } from "@standard-schema/spec";

/** What every function of an operation gets beside its own arguments. */
export interface CallContext {
  /** Aborts when the time of the call is over, or it is cancelled: hand it to `fetch`. */
  readonly signal: AbortSignal;
}

/** What the function that sends gets beside the request. */
export interface SendContext extends CallContext {
  /**
   * The key of this step of this run, 36 characters: the same whenever this request is sent, after a retry of the
   * run, too. Send it as the idempotency key; or, where the service knows none, write it into a field that its list
   * shows, so that `match` can recognize it.
   */
  readonly key: string;
  /** Whether an earlier send of the very request may have reached the service. */
  readonly isResend: boolean;
  /** Make the error that says: the service said no, and nothing was carried out. Throw it. */
  readonly refused: (reason: string) => Error;
  /**
   * Make the error that says: certainly not carried out, and to be sent again. Throw it where the service could not
   * be reached or asks to wait; `retryAfterMs`: milliseconds, default 1 second, and longer each time.
   */
  readonly notCarriedOut: (
    reason: string,
    options?: { readonly retryAfterMs?: number | undefined },
  ) => Error;
}

/** What an operation makes, as its service names it. */
export interface Made {
  /** By which the service knows it. */
  readonly id: string;
}

/** How something that is listed compares with what was sent. */
export type OwnMatch =
  /** It is certainly what was sent: it shows one of the keys. */
  | "ours"
  /** It is as it was sent, and could be what somebody else has sent. */
  | "same"
  /** It may be what was sent: a person is asked. */
  | "near"
  | "other";

/**
 * An operation of your own that workflows send: a booking, an e-mail. It is sent as the payments are: in the journal
 * before it is sent, not while sends are paused, never twice on a guess.
 *
 * @typeParam Request what is sent, as JSON; `amount` and `currency`, where it has them, are shown to whom a run asks.
 * @typeParam Answer what comes back, as JSON, with the `id` of what was made.
 */
export interface OwnOperation<Request extends object, Answer extends Made> {
  /** Checks the request before it is sent; any library of Standard Schema: zod, valibot, Effect. */
  readonly schema?: StandardSchemaV1<Request>;
  /** Longest time of one call, in milliseconds, default 30,000. What is not over by then counts as sent. */
  readonly timeoutMs?: number;
  /**
   * Send the request, once. Throw `refused` or `notCarriedOut` of the context where it is certain that nothing was
   * carried out; whatever else is thrown leaves that open, and the run finds out.
   */
  send(request: Request, context: SendContext): Promise<Answer>;
  /** Read what an id names; undefined where there is none. A person may have given the id. */
  read(id: string, context: CallContext): Promise<Answer | undefined>;
  /**
   * List all that was made since then, and perhaps more: all of it, or throw. Left out where the service shows no
   * list: a person is asked then.
   */
  list?(since: Date, context: CallContext): Promise<ReadonlyArray<Answer>>;
  /**
   * Compare something listed with what was sent. It is asked of what a person names, too.
   *
   * @param keys under which it may have been sent.
   */
  match?(request: Request, listed: Answer, keys: ReadonlyArray<string>): OwnMatch;
  /** How long after it was made something may be missing from the list, in milliseconds, default 60,000. */
  readonly listLagMs?: number;
  /** Undo what it made; it is called again until it succeeds, so that it must be safe to repeat. */
  undo?(id: string, context: CallContext): Promise<void>;
}

/** Operations of a worker by their names, as `defineOperation` of the workflows names them. */
export type OwnOperations = Readonly<Record<string, OwnOperation<object, Made>>>;
