import type { IdempotencyClass } from "../contract/operation-facts.ts";
import type { PaymentsError } from "./errors.ts";

/** The meaning of a send for its operation. */
export interface Outcome {
  /** Whether the operation was carried out: "no" only if that is certain. */
  readonly carriedOut: "no" | "unknown" | "yes";
  /**
   * Whether the same request may be sent again:
   *
   * - `always`: nothing was carried out, and a later send may succeed.
   * - `ifIdempotent`: it may have been carried out, so only operations that may be repeated are.
   * - `never`: the same request would be answered in the same way.
   */
  readonly retry: "always" | "ifIdempotent" | "never";
}

/** A class of responses: its error, and its outcome for each class of operations. */
interface Row extends Readonly<Record<IdempotencyClass, Outcome>> {
  /** The error if nothing was carried out. An unknown outcome is `OutcomeUnknown`, or `UnexpectedAnswer` if that is named here. */
  readonly error:
    | "none"
    | "Unavailable"
    | "RateLimited"
    | "NotAuthenticated"
    | "RequestRefused"
    | "UnexpectedAnswer";
}

const forAll = (outcome: Outcome) => ({
  safe: outcome,
  idempotent: outcome,
  keyed: outcome,
  none: outcome,
});

const no = (retry: Outcome["retry"]) => forAll({ carriedOut: "no", retry });

/** A read changes nothing, so that only the outcome of a write can be unknown. */
const unknownIfWrite = (retry: Outcome["retry"]) => ({
  ...forAll({ carriedOut: "unknown", retry }),
  safe: { carriedOut: "no", retry } as const,
});

const yes = forAll({ carriedOut: "yes", retry: "never" });

const refused = no("never");
const unknown = { carriedOut: "unknown", retry: "never" } as const;

/**
 * The only table of outcomes: class of response × class of operation. Client, activities and tools follow it, and
 * docs/errors-and-outcomes.md prints it, with the docstring of each class of responses. {@link IdempotencyClass} says
 * what the classes of operations are.
 */
export const OUTCOMES = {
  /** No byte of the request left. */
  notSent: { error: "Unavailable", ...no("always") },
  /** No byte left, and a person has to fix something first, such as a certificate. */
  notSentUntilFixed: { error: "Unavailable", ...no("never") },
  /** It was sent, and no complete response arrived. */
  lost: { error: "Unavailable", ...unknownIfWrite("ifIdempotent") },
  /** No complete response arrived, and a person has to fix something first. */
  lostUntilFixed: { error: "Unavailable", ...unknownIfWrite("never") },
  /** HTTP 5xx; HTTP or envelope code 408; 403 without an envelope; 429 if `notCarriedOutStatuses` does not list it. */
  serverFault: { error: "Unavailable", ...unknownIfWrite("ifIdempotent") },
  /** HTTP 5xx, 408 or 403 that `notCarriedOutStatuses` lists. */
  busy: { error: "Unavailable", ...no("always") },
  /** Another HTTP 4xx without an envelope that `notCarriedOutStatuses` lists. */
  turnedAway: { error: "Unavailable", ...no("never") },
  /** Another HTTP 4xx without an envelope: a gateway may send it after the service acted. */
  gateway: { error: "Unavailable", ...unknownIfWrite("never") },
  /** HTTP or envelope code 429. */
  rateLimited: { error: "RateLimited", ...no("always") },
  /** The service rejects the token. The client signs in and sends it once more. */
  tokenRejected: { error: "NotAuthenticated", ...no("always") },
  /** The token is rejected without an envelope: a gateway may do so after the service acted. */
  tokenRejectedByGateway: { error: "NotAuthenticated", ...unknownIfWrite("ifIdempotent") },
  /** An envelope with a code from 400 to 499. */
  refused: { error: "RequestRefused", ...refused },
  /** The same, but the request may have been sent before, so the service may know its key. */
  refusedResend: { error: "RequestRefused", ...refused, keyed: unknown },
  /** HTTP or envelope code 409: it may conflict with an earlier send of the same request. */
  conflict: { error: "RequestRefused", ...refused, keyed: unknown, none: unknown },
  /**
   * Status, code, message and data contradict each other or have no defined meaning. For a write, also any failure
   * whose body may be a damaged envelope.
   */
  contradictory: { error: "UnexpectedAnswer", ...unknownIfWrite("ifIdempotent") },
  /** A success without the documented data or, for a write, with an undocumented message. */
  unreadable: { error: "UnexpectedAnswer", ...unknownIfWrite("never") },
  /** A refusal that `alreadySoRefusals` lists. */
  alreadySo: { error: "none", ...yes },
  /** HTTP 2xx, code 200 and the documented data. */
  success: { error: "none", ...yes },
} as const satisfies Readonly<Record<string, Row>>;

/** A row of {@link OUTCOMES}. */
export type ResponseClass = keyof typeof OUTCOMES;

/** Returns what a response means for an operation of a class. */
export const outcomeOf = (is: ResponseClass, operation: IdempotencyClass): Outcome =>
  OUTCOMES[is][operation];

/** A response that is not a success. */
export type FailedClass = Exclude<ResponseClass, "success" | "alreadySo">;

/** A failed exchange, and whether the request may be sent again. */
export interface Failed {
  readonly _tag: "Failed";
  readonly error: PaymentsError;
  readonly retry: Outcome["retry"];
  /** Whether the request may have left this process. */
  readonly isSent: boolean;
  /** The HTTP status of the response, if one came. */
  readonly status: number | undefined;
  /** How long the service asks to wait before, in milliseconds. */
  readonly waitMs: number | undefined;
  /** Set if the service answered 429, by status or code: for how long the account has to send nothing. */
  readonly pauseMs: number | undefined;
}

/** A failed exchange; see {@link Failed}. By default, nothing was sent. */
export const failed = (
  error: PaymentsError,
  retry: Failed["retry"],
  { isSent = false, pauseMs, status, waitMs }: Partial<Failed> = {},
): Failed => ({ _tag: "Failed", error, retry, isSent, status, pauseMs, waitMs });
