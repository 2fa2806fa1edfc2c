import type { ClientPlugin } from "@temporalio/client";
import {
  type DataConverter,
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  type PayloadConverter,
  ValueError,
} from "@temporalio/common";
import { loadDataConverter } from "@temporalio/common/lib/internal-non-workflow/index.js";

/** What we write is not half as deep; whoever walks through a value that is much deeper runs out of stack. */
const MOST_LEVELS = 64;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  !ArrayBuffer.isView(value) &&
  (levels === 0 || Object.values(value).some((field) => isDeeperThan(field, levels - 1)));

/**
 * Decode a payload that anybody may have written.
 *
 * @param payload of a run.
 * @param converter that the runs are written with.
 * @returns its value.
 * @throws ValueError or SyntaxError where it is of another encoding, no JSON, or nested more than 64 levels.
 */
export const readPayload = (
  payload: Payload,
  converter: PayloadConverter = defaultPayloadConverter,
): unknown => {
  const value = converter.fromPayload<unknown>(payload);
  if (isDeeperThan(value, MOST_LEVELS)) throw new ValueError(`More than ${MOST_LEVELS} levels`);
  return value;
};

const encodingOf = ({ metadata }: Payload): string =>
  Buffer.from(metadata?.["encoding"] ?? [])
    .toString()
    .slice(0, 40);

const unreadable = (payload: Payload): Payload =>
  defaultPayloadConverter.toPayload({ unreadable: encodingOf(payload) });

/** A codec of the converter's own, which one payload that it cannot decode keeps from no other. */
const patient = (codec: PayloadCodec): PayloadCodec => ({
  encode: (payloads, context) => codec.encode(payloads, context),
  decode: async (payloads, context) => {
    try {
      return await codec.decode(payloads, context);
    } catch {
      const each = payloads.map(async (payload) => {
        try {
          return await codec.decode([payload], context);
        } catch {
          return [unreadable(payload)];
        }
      });
      return (await Promise.all(each)).flat();
    }
  },
});

const readable = (given: DataConverter = {}): DataConverter => {
  const { payloadConverter } = loadDataConverter(given);
  const check: PayloadCodec = {
    encode: async (payloads) => payloads,
    decode: async (payloads) =>
      payloads.map((payload) => {
        try {
          readPayload(payload, payloadConverter);
          return payload;
        } catch {
          return unreadable(payload);
        }
      }),
  };
  // The first one decodes last.
  return { ...given, payloadCodecs: [check, ...(given.payloadCodecs ?? []).map(patient)] };
};

/**
 * Plugin of a Temporal connection: its clients read a payload that does not decode as
 * `{ "unreadable": "binary/encrypted" }`. Whoever may start a run can write any bytes into its memo, and the
 * SDK decodes the memos of all runs that it lists: one of another encoding would end the list. Converters and codecs of
 * the client's own stay.
 */
export const readablePayloads = {
  name: "durable-payments.readable-payloads",
  configureClient: (options) => ({ ...options, dataConverter: readable(options.dataConverter) }),
} as const satisfies ClientPlugin;
