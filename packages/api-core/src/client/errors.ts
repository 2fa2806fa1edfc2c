import type { Fault } from "../contract/faults.ts";

/*
 * The errors are plain classes of JavaScript, without Effect. The promise client is published with an Effect of its own
 * inside, and the client for Effect with that of the program: both load this one module. So an error is an `instanceof` the
 * same class, wherever it comes from. `Effect.catchTag` and `Effect.catchTags` need the field `_tag` and no more.
 */

/** An error with a tag: written out, because a declaration that is inferred names modules of Effect. */
interface Tagged<Tag extends string> extends Error {
  readonly _tag: Tag;
  /** Returns the fields, and the message, which `JSON.stringify` leaves out otherwise. */
  readonly toJSON: () => object;
}

/** Makes a class of errors with a tag, which takes its fields as one object. */
const tagged = <Tag extends string>(
  tag: Tag,
): new <Fields extends { readonly message: string }>(
  fields: Fields,
) => Tagged<Tag> & Readonly<Fields> => {
  class TaggedError extends Error {
    readonly _tag = tag;

    constructor({ message, ...fields }: { readonly message: string }) {
      super(message);
      Object.assign(this, fields);
    }

    toJSON(): object {
      return { ...Object.fromEntries(Object.entries(this)), message: this.message };
    }
  }
  TaggedError.prototype.name = tag;
  // The class has the fields that its constructor assigns.
  return TaggedError as never;
};

/** The fields of every error of a call. */
interface About<CarriedOut extends "no" | "unknown" = "no"> {
  /** Name of the operation, as in the contract. */
  readonly operation: string;
  /** Whether the operation may have been carried out: never reported as "no" unless that is certain. */
  readonly carriedOut: CarriedOut;
  /** The event and the remedy, for a person: our own words, with HTTP status and code. */
  readonly message: string;
}

/** An error that may have the words of the service. */
interface Reasoned<CarriedOut extends "no" | "unknown" = "no"> extends About<CarriedOut> {
  /** The words of the service, at most 500 characters, without secrets and account numbers; see `redact`. */
  readonly reason?: string;
}

/** The request breaks a rule of the service's document. Nothing was sent; every fault is named. */
export class InvalidRequest extends tagged("InvalidRequest")<
  About & { readonly faults: ReadonlyArray<Fault> }
> {}

/** The service refused the request. `code` is that of its envelope, `reason` its own words. */
export class RequestRefused extends tagged("RequestRefused")<
  About & { readonly code: number; readonly reason: string }
> {}

/** Client id, API key or token were not accepted, after a fresh sign-in too. */
export class NotAuthenticated extends tagged("NotAuthenticated")<Reasoned> {}

/**
 * Nothing was carried out; send the request again after `retryAfter` milliseconds. `by` says why:
 *
 * - `service`: the service refused it as one too many.
 * - `rate`: its turn at the account's rate would come later than `maxRetryWaitMs`. It was not sent.
 * - `signIns`: the client has used its budget of sign-ins. It was not sent.
 */
export class RateLimited extends tagged("RateLimited")<
  Reasoned & { readonly retryAfter: number; readonly by: "service" | "rate" | "signIns" }
> {}

/**
 * Nothing was carried out: the service could not be reached, turned the request away, or did not answer a read.
 * `status` is that of the answer: of 4xx, the same request is likely to be answered in the same way.
 */
export class Unavailable extends tagged("Unavailable")<Reasoned & { readonly status?: number }> {}

/**
 * A write was sent and no valid answer came, or it was refused because its key is known. It may or may not have been
 * carried out. `code` is that of the refusal, which an earlier send may have caused.
 */
export class OutcomeUnknown extends tagged("OutcomeUnknown")<
  Reasoned<"unknown"> & { readonly code?: number }
> {}

/** An answer came that is not of the documented shape. `answer()` returns its text: nothing prints it. */
export class UnexpectedAnswer extends tagged("UnexpectedAnswer")<
  Reasoned<"no" | "unknown"> & { readonly answer?: () => string }
> {}

/** The errors of a call. Each says in `carriedOut` whether the operation may have taken effect. */
export type PaymentsError =
  | InvalidRequest
  | RequestRefused
  | NotAuthenticated
  | RateLimited
  | Unavailable
  | OutcomeUnknown
  | UnexpectedAnswer;

/** Returns whether an error is one of a call, of whichever of the two clients. */
export const isPaymentsError = (error: unknown): error is PaymentsError =>
  typeof error === "object" && error !== null && "_tag" in error && "carriedOut" in error;

/** A setting is missing or wrong; the message names it and says what it takes. */
export class InvalidSettings extends tagged("InvalidSettings")<{
  readonly message: string;
}> {}
