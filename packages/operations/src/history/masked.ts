import { isSensitiveField, redact } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { maskFreeTexts } from "@durable-payments/protocol";
import {
  defaultFailureConverter,
  defaultPayloadConverter,
  type PayloadConverter,
} from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { readPayload } from "../connection/readable-payloads.ts";
import { type Failure, readFailure } from "./failure.ts";

/** What stands in the place of a value that is masked as a whole. */
const MASK = "[redacted]";

/** The latest time that a Date holds: milliseconds since 1970. */
const LATEST_TIME_MS = 8.64e15;

/** Numbers that look like an account number become texts; times (`begunAt`, `since`) as ISO 8601. */
const maskedNumber = (name: string, value: number): number | string => {
  const text = String(value);
  if (redact(text) === text) return value;
  return /(At|since)$/.test(name) && Math.abs(value) <= LATEST_TIME_MS
    ? new Date(value).toISOString()
    : maskedText(name, text);
};

/** Whether the field of a name holds an id, which is shown however it looks: `payout_id`. */
const IS_ID = /(?<![a-z0-9_])(?:[a-z]+_)*id$/i;

const maskedText = (name: string, text: string): string =>
  redact(text, [], IS_ID.test(name) && /^[\w-]+$/.test(text) ? [text] : []);

/**
 * One value of JSON. Each is masked by itself: a text may be JSON, or nearly, and what is masked within the
 * text of a whole document may end that of another value.
 */
const maskedField = (name: string, value: unknown): unknown => {
  if (value === null || typeof value === "boolean") return value;
  if (isSensitiveField(name)) return MASK;
  if (typeof value === "string") return maskedText(name, value);
  if (typeof value === "number") return maskedNumber(name, value);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, field]) => [redact(key), field]))
    : value;
};

/** A value, as JSON has it, without what must not be shown: account numbers, tokens and the like. */
export const masked = <A>(value: A): A => {
  if (value === undefined) return value;
  const plain: unknown = JSON.parse(JSON.stringify(value));
  // Masking changes texts only.
  return JSON.parse(JSON.stringify(maskFreeTexts(plain)), maskedField) as A;
};

/** What a failure holds is read as any other payload: without its key it is told by that key. */
const failurePayloads: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  // The SDK says of which type a value is.
  fromPayload: ((payload) => readPayload(payload)) as PayloadConverter["fromPayload"],
};

/** Returns a failure that a history holds, without what must not be shown; null where there is none. */
export const failureOf = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
): Failure | null => {
  if (!failure) return null;
  try {
    return masked(readFailure(defaultFailureConverter.failureToError(failure, failurePayloads)));
  } catch {
    // Whoever executes a run writes any bytes.
    return { type: "Unreadable", message: "Its failure cannot be decoded here." };
  }
};
