import { redact } from "@durable-payments/api-core";
import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { type Failure, readFailure } from "./failure.ts";

/** The latest time that a Date holds: milliseconds since 1970. */
const LATEST_TIME_MS = 8.64e15;

/** Numbers that look like an account number, as texts; times (`begunAt`, `since`) as ISO 8601. */
const numbersAsTexts = (key: string, value: unknown): unknown => {
  if (typeof value !== "number" || redact(String(value)) === String(value)) return value;
  return /(At|since)$/.test(key) && Math.abs(value) <= LATEST_TIME_MS
    ? new Date(value).toISOString()
    : String(value);
};

/** A value without what must not be shown: account numbers, tokens and the like. */
export const masked = <A>(value: A): A =>
  // Masking changes texts only, and leaves JSON what it is: no number is left that it would change.
  value === undefined ? value : (JSON.parse(redact(JSON.stringify(value, numbersAsTexts))) as A);

/** A failure that a history holds, without what must not be shown. */
export const failureOf = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
): Failure | null =>
  failure
    ? masked(readFailure(defaultFailureConverter.failureToError(failure, defaultPayloadConverter)))
    : null;
