import type { ClientOptions } from "./config.ts";
import { OutcomeUnknown, type PaymentsError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import type { Failed } from "./outcomes.ts";

/** However long a server asks to wait, it is asked again within a day. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/**
 * `Retry-After`, seconds or an HTTP date, in whole milliseconds from `now`; undefined where it
 * cannot be read.
 */
export const retryAfterMs = (header: string, now: number): number | undefined => {
  const text = header.trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.ceil(Math.min(LONGEST_MS, Math.max(0, wait)));
};

/**
 * Decide whether a call may be sent again.
 *
 * @param attempt how many sends there were, or tries of one that never left
 */
export const mayRetry = (
  { idempotency }: Operation,
  { retry, waitMs = 0 }: Failed,
  attempt: number,
  { maxAttempts, maxRetryWaitMs }: ClientOptions,
): boolean =>
  attempt < maxAttempts &&
  waitMs <= maxRetryWaitMs &&
  (retry === "always" || (retry === "ifIdempotent" && idempotency !== "none"));

/**
 * Milliseconds between the `attempt`th send and the next: exponential with full jitter, on top of
 * what the service asks for. `random` is from 0 to 1.
 */
export const retryDelayMs = (
  { waitMs = 0 }: Failed,
  attempt: number,
  { maxRetryWaitMs, retryBaseMs }: ClientOptions,
  random: number,
): number => Math.min(maxRetryWaitMs, waitMs + random * retryBaseMs * 2 ** (attempt - 1));

/**
 * The last failure speaks of the last send only: where an earlier one may have been carried out,
 * the call may have been.
 */
export const errorOfCall = ({ error }: Failed, isInDoubt: boolean): PaymentsError =>
  isInDoubt && error.carriedOut === "no"
    ? new OutcomeUnknown({
        operation: error.operation,
        carriedOut: "unknown",
        message: `${error.operation} got no answer to an earlier send; then: ${error.message}`,
      })
    : error;
