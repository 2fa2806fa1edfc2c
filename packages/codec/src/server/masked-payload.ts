import { redact } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";

/** Reads a payload of any content: what is not JSON is bytes, and no value. */
const readPayload = (payload: Payload): unknown => defaultPayloadConverter.fromPayload(payload);

const MASK = "[redacted]";

/** Values that say nothing of a person: by the name of their field, and by what they look like. */
const SHOWN: ReadonlyArray<readonly [name: RegExp, value: RegExp]> = [
  [/(?:^|_)amount$/, /^-?\d{1,15}(?:\.\d{1,4})?$/],
  [/(?:^|_)currency$/, /^[A-Z]{3}$/i],
  [/(?:^|_)country(?:_code)?$/, /^[A-Z]{2}$/i],
  [/^(?:\w+_)?status$|^(?:operation|outcome|step)$/, /^[a-z]+(?:[A-Z_][a-z]*)*$|^[A-Z_]+$/],
  [/^(?:create|update|complete|payment)_(?:time|date)$/, /^\d{4}-\d\d-\d\d[\dT:.Z+-]*$/],
  [
    /^(?:balance|beneficiary|card|card_holder|payer|payout|reference|short_reference|transaction|unique_request)_id$/,
    /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|P\d{6}-\w{8})$/i,
  ],
];

const isShown = (name: string, value: string): boolean =>
  SHOWN.some(([field, like]) => field.test(name) && like.test(value));

/** As a program names its fields; a map may have names of people in their place. */
const FIELD_NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+|[A-Z][a-z0-9]*)*$/;
const LONGEST_FIELD_NAME = 40;

const shownName = (name: string): string =>
  FIELD_NAME.test(name) && name.length <= LONGEST_FIELD_NAME && redact(name) === name ? name : MASK;

const maskField = (name: string, value: unknown): unknown => {
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [shownName(key), maskField(key, field)]),
    );
  }
  if (Array.isArray(value)) return value.map((one) => maskField(name, one));
  if (typeof value !== "string" && typeof value !== "number") return value;
  return isShown(name, String(value)) ? value : MASK;
};

/** What a payload holds, for those who may not see personal values: only what is known to be none is shown. */
export const maskedPayload = (payload: Payload): Payload => {
  let value: unknown;
  try {
    value = readPayload(payload);
  } catch {
    return defaultPayloadConverter.toPayload(MASK);
  }
  return value === undefined ? payload : defaultPayloadConverter.toPayload(maskField("", value));
};
