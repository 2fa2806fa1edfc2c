import { redact } from "@durable-payments/api-core";
import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { type Failure, readFailure } from "../failure.ts";

/** A value without what must not be shown: account numbers, tokens and the like. */
export const masked = <A>(value: A): A =>
  // Masking changes texts only, and leaves JSON what it is.
  value === undefined ? value : (JSON.parse(redact(JSON.stringify(value))) as A);

/** A failure that a history holds, without what must not be shown. */
export const failureOf = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
): Failure | null =>
  failure
    ? masked(readFailure(defaultFailureConverter.failureToError(failure, defaultPayloadConverter)))
    : null;
