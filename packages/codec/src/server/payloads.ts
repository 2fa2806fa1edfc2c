import { redact } from "@durable-payments/client/effect";
import { isRecord } from "@durable-payments/client/values";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";

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

/** Names of fields in a program; the keys of a map may be names of people. */
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

/** Bytes as protobuf writes them in JSON, in either alphabet of Base64. */
const Bytes = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/_-]*={0,2}$/)).pipe(
  Schema.decodeTo(Schema.Uint8Array, {
    decode: SchemaGetter.transform((base64) => Buffer.from(base64, "base64")),
    encode: SchemaGetter.transform((bytes) => Buffer.from(bytes).toString("base64")),
  }),
);

const PayloadsSchema = Schema.Struct({
  payloads: Schema.Array(
    Schema.Struct({
      metadata: Schema.optionalKey(Schema.Record(Schema.String, Bytes)),
      data: Schema.optionalKey(Bytes),
    }),
  ),
});

const decode = Schema.decodeUnknownOption(PayloadsSchema);
const encode = Schema.encodeSync(Schema.fromJsonString(PayloadsSchema));

/**
 * Reads payloads as protobuf writes them in JSON: `{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"NTE="}]}`.
 *
 * @returns undefined for anything else.
 */
export const readPayloads = (json: unknown): ReadonlyArray<Payload> | undefined =>
  Option.getOrUndefined(decode(json))?.payloads;

/** Writes payloads as {@link readPayloads} reads them. */
export const writePayloads = (payloads: ReadonlyArray<Payload>): string =>
  encode({
    payloads: payloads.map(({ data, metadata }) => ({
      metadata: metadata ?? {},
      data: data ?? new Uint8Array(),
    })),
  });
