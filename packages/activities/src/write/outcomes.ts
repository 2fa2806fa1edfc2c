import type { PaymentsError } from "@durable-payments/api-core";
import { grownWait, type JsonObject, type SendOutcome } from "@durable-payments/ledger";

/** The account's keys have to be changed by somebody. */
const NOT_AUTHENTICATED_WAIT_MS = 30_000;

/** Returns how long to wait after an error that says that nothing was carried out, in milliseconds. */
export const waitAfterMs = (error: PaymentsError, attempt: number): number => {
  const grown = grownWait(attempt);
  // It grows, too: the client's own limit of sign-ins says this all through an outage.
  if (error._tag === "RateLimited") return Math.max(error.retryAfter, grown);
  return error._tag === "NotAuthenticated" ? Math.max(grown, NOT_AUTHENTICATED_WAIT_MS) : grown;
};

/**
 * Classifies what the client says of a write: the only place that does.
 *
 * | error | carried out: no | carried out: unknown |
 * |---|---|---|
 * | InvalidRequest, Refused | refused | lost |
 * | NotAuthenticated, RateLimited, Unavailable | later | lost |
 * | OutcomeUnknown | – | lost |
 * | UnexpectedAnswer | later | lost; contradiction where it shows something else than was sent |
 *
 * @param isIgnoredRepeat whether it repeats a key, and no list shows what was made: a repeat that was ignored or refused
 *   is answered the same the next time, so a person is asked.
 */
export const outcomeOfError = (
  error: PaymentsError,
  attempt: number,
  isIgnoredRepeat = false,
): SendOutcome => {
  const { message } = error;
  if (error.carriedOut === "unknown") {
    const isAnswered = error._tag === "UnexpectedAnswer" || error._tag === "Refused";
    const isOther =
      (error._tag === "UnexpectedAnswer" && error.contradicts !== undefined) ||
      (isAnswered && isIgnoredRepeat);
    return { is: isOther ? "contradiction" : "lost", message };
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
    case "Refused":
      return { is: "refused", message, details: { code: error.code, reason: error.reason } };
    default: {
      // What the service asks for; the engine's wait grows with the sends that were turned away, not with other waits.
      const isTurnedAway = error._tag === "RateLimited" && error.operation !== "signIn";
      const retryAfterMs = isTurnedAway ? error.retryAfter : waitAfterMs(error, attempt);
      return { is: "later", message, retryAfterMs };
    }
  }
};

/** Returns whether an error is one of the client's. */
export const isPaymentsError = (error: unknown): error is PaymentsError =>
  typeof error === "object" && error !== null && "_tag" in error && "carriedOut" in error;

/** Only time helps: the next attempt goes on. `version`: the row's, where nothing can have been sent; 0 without one. */
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
  }
}
