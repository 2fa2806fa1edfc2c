import * as Schema from "effect/Schema";

/** Whether the operation may have been carried out: never reported as "no" unless that is certain. */
const CarriedOut = Schema.Literals(["no", "unknown"]);

const about = {
  /** Name of the operation, as in the contract. */
  operation: Schema.String,
  carriedOut: CarriedOut,
  /** What happened and what can be done, for a person; without secrets or account numbers. */
  message: Schema.String,
};

/** The request breaks a rule of the service's document. Nothing was sent; every fault is named. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  ...about,
  faults: Schema.Array(Schema.Struct({ field: Schema.String, problem: Schema.String })),
}) {}

/** The service said no, in an envelope. `code` and `reason` are its own words. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  ...about,
  code: Schema.Finite,
  reason: Schema.String,
}) {}

/** Client id, API key or token were not accepted, after a fresh sign-in too. */
export class NotAuthenticated extends Schema.TaggedError<NotAuthenticated>()("NotAuthenticated", {
  ...about,
}) {}

/** The service, or our own sign-in budget, asks to wait `retryAfter` milliseconds. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...about,
  retryAfter: Schema.Finite,
}) {}

/**
 * The service could not be reached, or turned the request away: not carried out. `status` is the
 * HTTP status of an answer without envelope: of 4xx, the same request is likely to be answered the
 * same.
 */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  ...about,
  status: Schema.optionalKey(Schema.Int),
}) {}

/**
 * The request was sent and no valid answer came, or it was refused because its key is known: a write
 * may or may not have been carried out.
 */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  ...about,
}) {}

/**
 * An answer came that is not of the documented shape, or is about something else; `answer` is its text, cut and
 * redacted. `contradicts` names the fields of the request that it shows otherwise than they were sent.
 */
export class UnexpectedAnswer extends Schema.TaggedError<UnexpectedAnswer>()("UnexpectedAnswer", {
  ...about,
  answer: Schema.String,
  contradicts: Schema.optionalKey(Schema.Array(Schema.String)),
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
