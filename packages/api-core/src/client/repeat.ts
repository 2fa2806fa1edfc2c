import type { ClientOptions } from "./config.ts";
import { OutcomeUnknown, type PaymentsError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Failed } from "./reading.ts";

/** Whether a call may be sent again after the `attempt`th send (from 1) has failed so. */
export const mayRepeat = (
  { repeat }: Operation,
  { again, waitMs = 0 }: Failed,
  attempt: number,
  { maxAttempts, maxRetryWaitMs }: ClientOptions,
): boolean =>
  attempt < maxAttempts &&
  waitMs <= maxRetryWaitMs &&
  (again === "always" || (again === "byClass" && repeat !== "once"));

/**
 * Milliseconds between the `attempt`th send and the next: exponential with full jitter, on top of
 * what the service asks for. `random` is from 0 to 1.
 */
export const pauseMs = (
  { waitMs = 0 }: Failed,
  attempt: number,
  { maxRetryWaitMs, retryBaseMs }: ClientOptions,
  random: number,
): number => Math.min(maxRetryWaitMs, waitMs + random * retryBaseMs * 2 ** (attempt - 1));

/**
 * The last failure speaks of the last send only: where an earlier one may have been carried out,
 * the call may have been.
 */
export const ofTheWholeCall = ({ error }: Failed, isInDoubt: boolean): PaymentsError =>
  isInDoubt && error.carriedOut === "no"
    ? new OutcomeUnknown({
        operation: error.operation,
        carriedOut: "unknown",
        message: `${error.operation} got no answer to an earlier send; then: ${error.message}`,
      })
    : error;
