import type { ClientPlugin } from "@temporalio/client";
import { defaultPayloadConverter, type Payload, type PayloadCodec } from "@temporalio/common";

const encodingOf = ({ metadata }: Payload): string =>
  Buffer.from(metadata?.["encoding"] ?? [])
    .toString()
    .slice(0, 40);

const readable = (payload: Payload): Payload => {
  try {
    defaultPayloadConverter.fromPayload(payload);
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
