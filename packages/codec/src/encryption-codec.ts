import { type Payload, type PayloadCodec, ValueError } from "@temporalio/common";
import proto from "@temporalio/proto";
import * as Context from "effect/Context";
import * as Metric from "effect/Metric";
import { open, seal } from "./aes-gcm.ts";
import { type DataKeys, keepDataKeys } from "./data-keys.ts";
import { type DataKey, type KeyProvider, UndecryptablePayload } from "./key-provider.ts";

/** Settings of {@link makeEncryptionCodec}. */
export interface EncryptionSettings {
  /** The Temporal namespace: a payload of one namespace is not decrypted for another. */
  readonly namespace: string;
  /** The provider of the keys that wrap data keys. */
  readonly keys: KeyProvider;
}

const ENCODING = "encoding";
/** The encoding of payloads that are encrypted, as the samples of Temporal name it. */
const ENCRYPTED = "binary/encrypted";
const KEY_ID = "encryption-key-id";
const DATA_KEY = "encryption-data-key";
const MAX_WRAPPED_BYTES = 1024;

const utf8 = new TextEncoder();
const textOf = (value: Uint8Array | null | undefined): string =>
  Buffer.from(value ?? []).toString();

/** Counts payloads for the metrics of this process. The key must exist: its id becomes a label. */
const countPayloads = (operation: "encrypt" | "decrypt", key: string, payloads: number): void =>
  Metric.counter("payments_codec_payloads_total", {
    description: "Payloads that this process has encrypted and decrypted, by key",
    attributes: { operation, key },
  }).updateUnsafe(payloads, Context.empty());

const boundTo = (namespace: string, keyId: string): string =>
  `durable-payments payload\0${namespace}\0${keyId}`;

const encrypt = (
  payload: Payload,
  namespace: string,
  { key, keyId, wrapped }: DataKey,
): Payload => ({
  metadata: {
    [ENCODING]: utf8.encode(ENCRYPTED),
    [KEY_ID]: utf8.encode(keyId),
    [DATA_KEY]: wrapped,
  },
  data: seal(
    key,
    proto.temporal.api.common.v1.Payload.encode(payload).finish(),
    boundTo(namespace, keyId),
  ),
});

const decrypt = async (payload: Payload, namespace: string, keys: DataKeys): Promise<Payload> => {
  const { metadata, data } = payload;
  if (textOf(metadata?.[ENCODING]) !== ENCRYPTED) return payload;
  const wrapped = metadata?.[DATA_KEY];
  const keyId = textOf(metadata?.[KEY_ID]);
  if (!wrapped || wrapped.length > MAX_WRAPPED_BYTES || keyId === "" || !data) {
    throw new UndecryptablePayload(
      "A payload was not encrypted by this codec: it does not name a key",
    );
  }
  const key = await keys.unwrap(keyId, wrapped);
  try {
    const opened = open(key, data, boundTo(namespace, keyId));
    // Only now it is known that there is such a key.
    countPayloads("decrypt", keyId, 1);
    return proto.temporal.api.common.v1.Payload.decode(opened);
  } catch (error) {
    throw new UndecryptablePayload(
      `A payload cannot be decrypted with the key ${keyId}: it was changed, or written for a namespace other than ${namespace}`,
      { cause: error },
    );
  }
};

/**
 * Makes a codec that encrypts each payload by AES-256-GCM: under a data key that the provider wraps, a random nonce, and
 * bound to namespace and key id. Payloads that are not encrypted are read as they are, so that old histories stay
 * readable.
 *
 * @param settings namespace and keys.
 * @throws ValueError for a namespace that is empty.
 */
export const makeEncryptionCodec = ({ keys, namespace }: EncryptionSettings): PayloadCodec => {
  if (namespace === "") throw new ValueError("An encryption codec needs the Temporal namespace");
  const dataKeys = keepDataKeys(keys);
  return {
    encode: async (payloads) => {
      if (payloads.length === 0) return [];
      const dataKey = await dataKeys.current();
      countPayloads("encrypt", dataKey.keyId, payloads.length);
      return payloads.map((payload) => encrypt(payload, namespace, dataKey));
    },
    decode: (payloads) =>
      Promise.all(payloads.map((payload) => decrypt(payload, namespace, dataKeys))),
  };
};
