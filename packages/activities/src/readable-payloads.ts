import type { ClientPlugin } from "@temporalio/client";
import {
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  ValueError,
} from "@temporalio/common";

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
 * @returns its value.
 * @throws ValueError or SyntaxError where it is of another encoding, no JSON, or nested more than 64 levels.
 */
export const readPayload = (payload: Payload): unknown => {
  const value = defaultPayloadConverter.fromPayload<unknown>(payload);
  if (isDeeperThan(value, MOST_LEVELS)) throw new ValueError(`More than ${MOST_LEVELS} levels`);
  return value;
};

const encodingOf = ({ metadata }: Payload): string =>
  Buffer.from(metadata?.["encoding"] ?? [])
    .toString()
    .slice(0, 40);

const readable = (payload: Payload): Payload => {
  try {
    readPayload(payload);
    return payload;
  } catch {
    return defaultPayloadConverter.toPayload({ unreadable: encodingOf(payload) });
  }
};

const codec: PayloadCodec = {
  encode: async (payloads) => payloads,
  decode: async (payloads) => payloads.map(readable),
};

/**
 * Plugin of a Temporal connection: its clients read a payload that does not decode as
 * `{ "unreadable": "binary/encrypted" }`. Whoever may start a run can write any bytes into its memo, and the
 * SDK decodes the memos of all runs that it lists: one of another encoding would end the list.
 */
export const readablePayloads = {
  name: "durable-payments.readable-payloads",
  configureClient: (options) => ({ ...options, dataConverter: { payloadCodecs: [codec] } }),
} as const satisfies ClientPlugin;
