import * as Data from "effect/Data";
import type * as Redacted from "effect/Redacted";
import { type Fault, firstFaults } from "../contract/faults.ts";
import { redact } from "./redact.ts";

/*
 * Plain tagged errors: as schemas they would load 142 modules with the first import of the client, and nobody decodes
 * them.
 */

/** The fields of every error of a call. */
interface About {
  /** Name of the operation, as in the contract. */
  readonly operation: string;
  /** Whether the operation may have been carried out: never reported as "no" unless that is certain. */
  readonly carriedOut: "no" | "unknown";
  /** What happened and what can be done, for a person: our own words, with HTTP status and code. */
  readonly message: string;
}

/** An error that may have the words of the service. */
interface Reasoned extends About {
  /** The words of the service, at most 500 characters, without secrets and account numbers; see `redact`. */
  readonly reason?: string;
}

/** The request breaks a rule of the service's document. Nothing was sent; every fault is named. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<
  About & { readonly faults: ReadonlyArray<Fault> }
> {}

/** The service said no. `code` is that of its envelope, `reason` its own words. */
export class Refused extends Data.TaggedError("Refused")<
  About & { readonly code: number; readonly reason: string }
> {}

/** Client id, API key or token were not accepted, after a fresh sign-in too. */
export class NotAuthenticated extends Data.TaggedError("NotAuthenticated")<Reasoned> {}

/**
 * Nothing was carried out; send the request again after `retryAfter` milliseconds. `by` says why: the `service` refused
 * it as one too many, its turn at the account's `rate` would come later than `maxRetryWaitMs`, or the client has used its
 * budget of `signIns`. In the last two cases, it was not sent.
 */
export class RateLimited extends Data.TaggedError("RateLimited")<
  About & { readonly retryAfter: number; readonly by: "service" | "rate" | "signIns" }
> {}

/**
 * Nothing was carried out: the service could not be reached, turned the request away, or did not answer a read.
 * `status` is that of the answer: of 4xx, the same request is likely to be answered in the same way.
 */
export class Unavailable extends Data.TaggedError("Unavailable")<
  Reasoned & { readonly status?: number }
> {}

/**
 * A write was sent and no valid answer came, or it was refused because its key is known: it may or may not have
 * been carried out. `code` is the one with which it was refused, perhaps because of an earlier send.
 */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<
  Reasoned & { readonly code?: number }
> {}

/** An answer came that is not of the documented shape. `answer` is its text; nothing prints it. */
export class UnexpectedAnswer extends Data.TaggedError("UnexpectedAnswer")<
  Reasoned & { readonly answer?: Redacted.Redacted }
> {}

/** Everything a call can fail with. */
export type PaymentsError =
  | InvalidRequest
  | Refused
  | NotAuthenticated
  | RateLimited
  | Unavailable
  | OutcomeUnknown
  | UnexpectedAnswer;

/** Returns whether an error is one of those that a call can fail with. */
export const isPaymentsError = (error: unknown): error is PaymentsError =>
  typeof error === "object" && error !== null && "_tag" in error && "carriedOut" in error;

/** A setting is missing or wrong; the message names it and says what it takes. */
export class InvalidSettings extends Data.TaggedError("InvalidSettings")<{
  readonly message: string;
}> {}

/** The error of a call that is not sent because of these faults, the first one of each field. */
export const invalidRequest = (operation: string, faults: ReadonlyArray<Fault>): InvalidRequest => {
  // An unknown name may be a card number in the wrong place.
  const named = firstFaults(faults).map(({ field, problem }) => ({
    field: redact(field),
    problem,
  }));
  return new InvalidRequest({
    operation,
    carriedOut: "no",
    message: `${operation}: ${named
      .map(({ field, problem }) => `${field === "" ? "the request" : field} ${problem}`)
      .join("; ")}. ${operation} was not sent.`,
    faults: named,
  });
};
