import { isPaymentsError, type PaymentsError } from "@durable-payments/client/effect";
import { countFailure } from "../failure-counter.ts";
import { grownWait, type JsonObject, type SendOutcome } from "@durable-payments/ledger";

/** The account's keys must be changed. */
const NOT_AUTHENTICATED_WAIT_MS = 30_000;

/** Returns the wait after an error without effect, in milliseconds. */
export const waitAfterMs = (error: PaymentsError, attempt: number): number => {
  const grown = grownWait(attempt);
  // The client says the budget of sign-ins all through an outage. Otherwise it knows the turn of the call.
  if (error._tag === "RateLimited") {
    return error.by === "signIns" ? Math.max(error.retryAfter, grown) : error.retryAfter;
  }
  return error._tag === "NotAuthenticated" ? Math.max(grown, NOT_AUTHENTICATED_WAIT_MS) : grown;
};

/** Returns the message of an error for a person, with the service's text, which the client has masked. */
export const withReason = (error: PaymentsError): string => {
  const reason = "reason" in error ? (error.reason ?? "") : "";
  return reason === "" ? error.message : `${error.message} The service says: ${reason}`;
};

/**
 * Classifies the client's result of a write. No other code does that.
 *
 * | error | carried out: no | carried out: unknown |
 * |---|---|---|
 * | InvalidRequest, RequestRefused | refused | lost |
 * | NotAuthenticated, RateLimited, Unavailable | later | lost |
 * | OutcomeUnknown | – | lost |
 * | UnexpectedAnswer | later | lost |
 *
 * @param isIgnoredRepeat whether it repeats a key and no list shows the result. The service would answer the next repeat
 *   the same way, so a person is asked.
 */
export const outcomeOfError = (
  error: PaymentsError,
  attempt: number,
  isIgnoredRepeat = false,
): SendOutcome => {
  const message = withReason(error);
  if (error.carriedOut === "unknown") {
    const isAnswered =
      error._tag === "UnexpectedAnswer" ||
      (error._tag === "OutcomeUnknown" && error.code !== undefined);
    return { is: isAnswered && isIgnoredRepeat ? "contradiction" : "lost", message };
  }
  switch (error._tag) {
    case "InvalidRequest":
      return {
        is: "refused",
        message,
        details: {
          code: "InvalidRequest",
          reason: error.faults.map(({ field, problem }) => `${field} ${problem}`).join("; "),
        },
      };
    case "RequestRefused":
      return { is: "refused", message, details: { code: error.code, reason: error.reason } };
    default:
      return { is: "later", message, retryAfterMs: waitAfterMs(error, attempt) };
  }
};

/** Returns whether the response to a read says that the service does not know the object, or its id. */
export const isNotFound = ({ _tag }: PaymentsError): boolean =>
  _tag === "RequestRefused" || _tag === "InvalidRequest";

/**
 * Returns whether the response to a read is an error that is about the read, not about the moment.
 *
 * @param mostStatus the highest HTTP status that counts. For a 4xx, the same request is likely to get the same response.
 */
export const isRefusedRead = (error: unknown, mostStatus = 499): error is PaymentsError =>
  isPaymentsError(error) &&
  (error._tag === "RequestRefused" ||
    error._tag === "UnexpectedAnswer" ||
    (error._tag === "Unavailable" && (error.status ?? Number.POSITIVE_INFINITY) <= mostStatus));

/** Only time helps: the next attempt continues. `version` is the row's if nothing can have been sent; 0 without a row. */
export class NotYet extends Error {
  override readonly name = "NotYet";
  readonly delayMs: number;
  readonly version: number | undefined;
  constructor(message: string, delayMs: number, version?: number) {
    super(message);
    this.delayMs = delayMs;
    this.version = version;
  }
}

/** The step fails for good: its type is one of `failureTypes`, or `Cancelled`. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
  readonly type: string;
  readonly details: JsonObject;
  constructor(type: string, message: string, details: JsonObject) {
    super(message);
    this.type = type;
    this.details = details;
    // Here, since it surfaces in an activity, or in the tracker for a run that has ended.
    countFailure(type);
  }
}
