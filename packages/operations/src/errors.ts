import type { Fault } from "@durable-payments/api-core";
import * as Data from "effect/Data";

/** What to do next about an error or a result, as data: a tool words it as its own command. */
export type NextOperation =
  /** See one run or batch. */
  | {
      readonly operation: "show";
      readonly workflowId: string;
      readonly isLog?: true;
      readonly isFollowed?: true;
    }
  | { readonly operation: "answer" | "approve" | "reject" | "cancel"; readonly workflowId: string }
  | {
      readonly operation: "retry";
      readonly workflowId: string;
      /** The run that was looked at: another one of the id is not retried. */
      readonly ifRun?: string;
      /** A person has ended it: the retry has to overrule that, by name and with a reason. */
      readonly isOverruling?: true;
      /** With another input. */
      readonly isAmended?: true;
      /** From its begin, in place of a reset. */
      readonly isRestarted?: true;
      readonly isDryRun?: true;
    }
  /** Retry all that failed; of one batch where it is named. */
  | { readonly operation: "retryAll"; readonly batch?: string }
  /** Let sends go on: of everything, a batch, or a run. */
  | { readonly operation: "resume"; readonly of?: string }
  /** Pay the file once more, past what was refused; under the id that was given, where one was. */
  | {
      readonly operation: "payNotDuplicate";
      readonly workflowId?: string;
      readonly isOnboarding?: true;
    }
  | { readonly operation: "list"; readonly status?: string }
  | { readonly operation: "inbox" | "doctor" | "recover" | "testWebhook" }
  | { readonly operation: "startWorker" | "startServer" };

interface Reported {
  /** What happened, what it means for the money, what to do next: for a person. */
  readonly message: string;
  readonly next?: NextOperation;
}

/** What was given is wrong; nothing was done. `faults` names each fault, where there are several. */
export class InvalidInput extends Data.TaggedError("InvalidInput")<
  Reported & { readonly faults?: ReadonlyArray<Fault> }
> {}

/** There is no such run. */
export class NotFound extends Data.TaggedError("NotFound")<Reported> {}

/** It cannot be done in this state, or might do something twice; nothing was done. */
export class Refused extends Data.TaggedError("Refused")<Reported> {}

/** A person has ended the run, and nobody has overruled that; nothing was done. */
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
    /** Set where Temporal was asked to change something, and did not answer: it may have been done. */
    readonly carriedOut?: "unknown";
  }
> {}

const ERRORS = [InvalidInput, NotFound, Refused, EndedByPerson, ConnectionFailed];

/** All that an operation rejects with on purpose. */
export type OperationError = InstanceType<(typeof ERRORS)[number]>;

/** Checks whether an operation was rejected on purpose; whatever else it throws is a fault of its code. */
export const isOperationError = (error: unknown): error is OperationError =>
  ERRORS.some((kind) => error instanceof kind);

/** Makes the error for wrong input, which names each fault where there are several. */
export const invalidInput = (
  message: string,
  faults?: ReadonlyArray<Fault>,
  next?: NextOperation,
): InvalidInput => new InvalidInput({ message, ...(faults && { faults }), ...(next && { next }) });

/** Makes the error for what is not there. */
export const notFound = (message: string, next?: NextOperation): NotFound =>
  new NotFound({ message, ...(next && { next }) });

/** Makes the error for what cannot be reached. */
export const connectionFailed = (
  reason: ConnectionFailed["reason"],
  message: string,
  next?: NextOperation,
): ConnectionFailed => new ConnectionFailed({ reason, message, ...(next && { next }) });

/** Makes the error for what cannot be done in the present state; an id names the run or batch to look at. */
export const refused = (message: string, see?: NextOperation | string): Refused => {
  const next = typeof see === "string" ? ({ operation: "show", workflowId: see } as const) : see;
  return new Refused({ message, ...(next && { next }) });
};
