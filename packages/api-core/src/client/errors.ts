import * as Schema from "effect/Schema";
import { type Fault, firstFaults } from "../contract/rules.ts";
import { redact } from "./redact.ts";

/** Whether the operation may have been carried out: never reported as "no" unless that is certain. */
const CarriedOut = Schema.Literals(["no", "unknown"]);

const about = {
  /** Name of the operation, as in the contract. */
  operation: Schema.String,
  carriedOut: CarriedOut,
  /** What happened and what can be done, for a person: our own words, with HTTP status and code. */
  message: Schema.String,
};

/** The words of the service, at most 500 characters, without secrets and account numbers; see `redact`. */
const reason = Schema.String;

/** The request breaks a rule of the service's document. Nothing was sent; every fault is named. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  ...about,
  faults: Schema.Array(Schema.Struct({ field: Schema.String, problem: Schema.String })),
}) {}

/** The service said no. `code` is that of its envelope, `reason` its own words. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  ...about,
  code: Schema.Finite,
  reason,
}) {}

/** Client id, API key or token were not accepted, after a fresh sign-in too. */
export class NotAuthenticated extends Schema.TaggedError<NotAuthenticated>()("NotAuthenticated", {
  ...about,
  reason: Schema.optionalKey(reason),
}) {}

/** The service, or our own sign-in budget, asks to wait `retryAfter` milliseconds. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...about,
  retryAfter: Schema.Finite,
}) {}

/**
 * Nothing was carried out: the service could not be reached, turned the request away, or did not answer a read.
 * `status` is that of the answer: of 4xx, the same request is likely to be answered in the same way.
 */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  ...about,
  status: Schema.optionalKey(Schema.Int),
  reason: Schema.optionalKey(reason),
}) {}

/**
 * A write was sent and no valid answer came, or it was refused because its key is known: it may or may not have
 * been carried out.
 */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  ...about,
  /** The code with which it was refused, perhaps because of an earlier send. */
  code: Schema.optionalKey(Schema.Finite),
  reason: Schema.optionalKey(reason),
}) {}

/** An answer came that is not of the documented shape. `answer` is its text; nothing prints it. */
export class UnexpectedAnswer extends Schema.TaggedError<UnexpectedAnswer>()("UnexpectedAnswer", {
  ...about,
  reason: Schema.optionalKey(reason),
  answer: Schema.optionalKey(Schema.Redacted(Schema.String)),
}) {}

/** Everything a call can fail with. */
export const PaymentsError = Schema.Union([
  InvalidRequest,
  Refused,
  NotAuthenticated,
  RateLimited,
  Unavailable,
  OutcomeUnknown,
  UnexpectedAnswer,
]);

/** Everything a call can fail with. */
export type PaymentsError = typeof PaymentsError.Type;

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
