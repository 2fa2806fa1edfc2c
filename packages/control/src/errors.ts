import type { Fault } from "@durable-payments/client/effect";
import * as Data from "effect/Data";

type Looking = "doctor" | "inbox" | "list" | "show" | "testWebhook";
type Deciding =
  | "word"
  | "answer"
  | "approve"
  | "cancel"
  | "reject"
  | "resume"
  | "retry"
  | "retryAll";
/** `pay` and `onboard`: in spite of a likely duplicate. */
type Starting = "onboard" | "pay" | "recover" | "startServer" | "startWorker";

/** The next action after an error or a result, as data: a tool turns it into its own command. */
export interface NextOperation {
  readonly operation: Looking | Deciding | Starting;
  /** The run, the batch, or the limits. */
  readonly workflowId?: string;
  /** Approves what was shown: its hash says what that was. */
  readonly hash?: string;
  /** Retries only the run that was shown. */
  readonly ifRun?: string;
  /** Retries the failed rows of a batch only. */
  readonly batch?: string;
  readonly status?: string;
  /** Hash of the account whose service says a word. */
  readonly account?: string;
  /** Starts it under the same id again. */
  readonly id?: string;
  readonly isLate?: boolean;
  readonly isLog?: boolean;
  readonly isFollowed?: boolean;
  readonly isDryRun?: boolean;
  /** A person ended it: the retry must override that, by name and with a reason. */
  readonly isOverruling?: boolean;
  /** Retries it with another input. */
  readonly isAmended?: boolean;
  /** Retries it from the beginning, instead of a reset. */
  readonly isRestarted?: boolean;
}

interface Reported {
  /** The event, its effect on the money and the next action: for a person. */
  readonly message: string;
  readonly next?: NextOperation;
}

/** The input is invalid; nothing was done. `faults` names each fault, if there are several. */
export class InvalidInput extends Data.TaggedError("InvalidInput")<
  Reported & { readonly faults?: ReadonlyArray<Fault> }
> {}

/** The run does not exist. */
export class NotFound extends Data.TaggedError("NotFound")<Reported> {}

/** It cannot be done in this state, or might do something twice; nothing was done. */
export class NotAllowed extends Data.TaggedError("NotAllowed")<Reported> {}

/** A person ended the run, and nobody has overridden that; nothing was done. */
export class EndedByPerson extends Data.TaggedError("EndedByPerson")<Reported> {}

/** Temporal, the ledger, or a worker cannot be reached or does not take the request. */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<
  Reported & {
    readonly reason:
      | "cannotConnect"
      | "namespaceNotFound"
      | "temporalError"
      | "ledgerUnavailable"
      | "noWorker";
    /** Set if Temporal did not answer a request for a change, which may have been made. */
    readonly carriedOut?: "unknown";
  }
> {}

const ERRORS = [InvalidInput, NotFound, NotAllowed, EndedByPerson, ConnectionFailed];

/** All errors that an operation rejects with on purpose. */
export type OperationError = InstanceType<(typeof ERRORS)[number]>;

/** Returns whether an operation was rejected on purpose; any other error is a fault of the code. */
export const isOperationError = (error: unknown): error is OperationError =>
  ERRORS.some((kind) => error instanceof kind);

/** Makes the error for invalid input, with each fault. */
export const invalidInput = (message: string, faults?: ReadonlyArray<Fault>): InvalidInput =>
  new InvalidInput({ message, ...(faults && { faults }) });

/** Makes the error for a missing object. */
export const notFound = (message: string, next?: NextOperation): NotFound =>
  new NotFound({ message, ...(next && { next }) });

/** Makes the error for a failed connection. */
export const connectionFailed = (
  reason: ConnectionFailed["reason"],
  message: string,
  next?: NextOperation,
): ConnectionFailed => new ConnectionFailed({ reason, message, ...(next && { next }) });

/** Makes the error for a request that the present state forbids; an id names the run or batch to look at. */
export const refused = (message: string, see?: NextOperation | string): NotAllowed => {
  const next = typeof see === "string" ? ({ operation: "show", workflowId: see } as const) : see;
  return new NotAllowed({ message, ...(next && { next }) });
};
