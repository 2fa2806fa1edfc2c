import type { Fault } from "@durable-payments/api-core";
import * as Data from "effect/Data";

/** What to do next about an error or a result, as data: a tool words it as its own command. */
export type NextOperation =
  /** See how a run stands. */
  | { readonly operation: "describe"; readonly workflowId: string }
  /** See what happened in a run. */
  | {
      readonly operation: "timeline";
      readonly workflowId: string;
      /** An earlier run of the id. */
      readonly runId?: string;
    }
  | { readonly operation: "audit"; readonly workflowId: string }
  /** Follow a run to its end. */
  | { readonly operation: "watch"; readonly workflowId: string }
  | {
      readonly operation: "retry";
      readonly workflowId: string;
      /** The run that was looked at: another one of the id is not retried. */
      readonly runId?: string;
      readonly from?: string;
      /** A person has ended the run: the retry has to overrule that, by name and with a reason. */
      readonly overrule?: true;
      readonly isDryRun?: true;
      /** With another input. */
      readonly amend?: true;
    }
  | { readonly operation: "cancel"; readonly workflowId: string }
  /** Find where the code parts from the history of a run. */
  | { readonly operation: "replay"; readonly workflowId: string }
  /** Write the history of a run to a file. */
  | { readonly operation: "export" }
  /** See all that waits for a person. */
  | { readonly operation: "humanTasks" }
  | { readonly operation: "describeBatch"; readonly workflowId: string }
  | { readonly operation: "resumeBatch"; readonly workflowId: string }
  /** Import the file once more, overruling who has rejected rows of it. */
  | { readonly operation: "importOverruling" }
  /** End the pause of sends. */
  | { readonly operation: "resume" }
  | { readonly operation: "doctor" }
  /** Post one notification, and see what became of it. */
  | { readonly operation: "testNotification" }
  /** Register what the namespace lacks. */
  | { readonly operation: "fixNamespace" }
  | { readonly operation: "startWorker" }
  | { readonly operation: "startServer" };

interface Reported {
  /** What happened, what it means for the money, what to do next: for a person. */
  readonly message: string;
  readonly next?: NextOperation;
}

/** What was given is wrong; nothing was done. `faults` names each fault, where there are several. */
export class InvalidInput extends Data.TaggedError("InvalidInput")<
  Reported & { readonly faults?: ReadonlyArray<Fault>; readonly cause?: unknown }
> {}

/** There is no such run. */
export class NotFound extends Data.TaggedError("NotFound")<Reported> {}

/** It cannot be done as things stand, or might do something twice; nothing was done. */
export class Refused extends Data.TaggedError("Refused")<Reported> {}

/** A person has ended the run, and nobody has overruled that; nothing was done. */
export class EndedByPerson extends Data.TaggedError("EndedByPerson")<Reported> {}

/** Temporal, or a worker behind it, cannot be reached or does not take the request. */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<
  Reported & {
    readonly reason: "cannotConnect" | "namespaceNotFound" | "temporalError" | "noWorker";
    /** Set where Temporal was asked to change something, and did not answer: it may have been done. */
    readonly carriedOut?: "unknown";
  }
> {}

/** All that an operation rejects with on purpose. Whatever else it throws is a fault of its code. */
export type OperationError = InvalidInput | NotFound | Refused | EndedByPerson | ConnectionFailed;

/**
 * Check whether an operation was rejected on purpose.
 *
 * @param error what it has thrown.
 * @returns false for what is a fault of the code.
 */
export const isOperationError = (error: unknown): error is OperationError =>
  error instanceof InvalidInput ||
  error instanceof NotFound ||
  error instanceof Refused ||
  error instanceof EndedByPerson ||
  error instanceof ConnectionFailed;

/**
 * Make the error for what was given and is wrong.
 *
 * @param message for a person.
 * @param faults each fault, where there are several.
 * @param next the operation that helps.
 * @returns the error, to be thrown.
 */
export const invalidInput = (
  message: string,
  faults?: ReadonlyArray<Fault>,
  next?: NextOperation,
): InvalidInput => new InvalidInput({ message, ...(faults && { faults }), ...(next && { next }) });

/**
 * Make the error for what cannot be done as things stand.
 *
 * @param message for a person.
 * @param next the operation that helps.
 * @returns the error, to be thrown.
 */
export const refused = (message: string, next?: NextOperation): Refused =>
  new Refused({ message, ...(next && { next }) });
