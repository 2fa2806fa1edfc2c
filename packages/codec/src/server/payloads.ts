import { redact } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";

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

/** Masks a payload for users who may not see personal values: a value is shown only if it is known not to be personal. */
export const maskedPayload = (payload: Payload): Payload => {
  let value: unknown;
  try {
    value = defaultPayloadConverter.fromPayload(payload);
  } catch {
    return defaultPayloadConverter.toPayload(MASK);
  }
  return value === undefined ? payload : defaultPayloadConverter.toPayload(maskField("", value));
};

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

const bytesOf = (value: unknown): Uint8Array | undefined =>
  typeof value === "string" && BASE64.test(value) ? Buffer.from(value, "base64") : undefined;

const payloadOf = (json: unknown): Payload | undefined => {
  if (!isRecord(json)) return undefined;
  const { data = "", metadata = {} } = json;
  const content = bytesOf(data);
  if (content === undefined || !isRecord(metadata)) return undefined;
  const entries = Object.entries(metadata).map(([name, value]) => [name, bytesOf(value)] as const);
  return entries.every((entry): entry is readonly [string, Uint8Array] => entry[1] !== undefined)
    ? { metadata: Object.fromEntries(entries), data: content }
    : undefined;
};

/**
 * Reads payloads as protobuf writes them in JSON: `{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"NTE="}]}`.
 *
 * @returns undefined for anything else.
 */
export const readPayloads = (json: unknown): ReadonlyArray<Payload> | undefined => {
  const given = isRecord(json) ? json["payloads"] : undefined;
  if (!Array.isArray(given)) return undefined;
  const payloads = given.map(payloadOf);
  return payloads.every((payload) => payload !== undefined) ? payloads : undefined;
};

const base64Of = (bytes: Uint8Array | null | undefined): string =>
  Buffer.from(bytes ?? []).toString("base64");

/** Writes payloads as {@link readPayloads} reads them. */
export const writePayloads = (payloads: ReadonlyArray<Payload>): string =>
  JSON.stringify({
    payloads: payloads.map(({ data, metadata }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64Of(bytes)]),
      ),
      data: base64Of(data),
    })),
  });
