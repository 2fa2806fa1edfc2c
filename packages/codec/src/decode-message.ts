import { isRecord } from "@durable-payments/client/values";
import type { DataConverter, Payload } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { KeysUnavailable } from "./key-provider.ts";

/** How {@link decodeMessage} treats a payload that its codec cannot decode. */
export interface DecodeSettings {
  /** Keep it encoded instead of rejecting. If no key can be read at all, it is rejected anyway. */
  readonly keepUndecodable?: boolean;
}

type Failure = temporal.api.failure.v1.IFailure;

/** The only message of Temporal's API with both. */
const isPayload = (value: object): value is Payload => "metadata" in value && "data" in value;

/** The only message of Temporal's API with such a field. */
const isFailure = (value: object): value is Failure => "encodedAttributes" in value;

/** The server has "Encoded failure" instead of the message, which is in the encoded attributes. */
const showAttributes = (failure: Failure): void => {
  let attributes: unknown;
  try {
    attributes = JSON.parse(Buffer.from(failure.encodedAttributes?.data ?? []).toString());
  } catch {
    // They are still encoded.
    return;
  }
  const { message, stack_trace: stackTrace } = isRecord(attributes) ? attributes : {};
  if (typeof message === "string") failure.message = message;
  if (typeof stackTrace === "string") failure.stackTrace = stackTrace;
};

/**
 * Decodes the payloads within a message of Temporal's API by the codecs of a converter: of a history its inputs, results,
 * signals, heartbeats and failures. Payloads that are not encoded stay as they are. The client's `fetchHistory` and the
 * `raw` of its descriptions are as Temporal stores them.
 *
 * @param message such as what the client's `fetchHistory` returns; it is changed.
 * @param dataConverter that the worker has, such as {@link encryptedDataConverter}.
 * @param settings what to do with a payload that cannot be decoded.
 * @returns the same message.
 * @throws MissingKey, KeysUnavailable or UndecryptablePayload: then part of it may be decoded.
 * @example
 * ```ts
 * const history = await client.workflow.getHandle("invoice-7").fetchHistory();
 * await decodeMessage(history, dataConverter);
 * ```
 */
export const decodeMessage = async <A extends object>(
  message: A,
  dataConverter: DataConverter,
  { keepUndecodable = false }: DecodeSettings = {},
): Promise<A> => {
  const codecs = (dataConverter.payloadCodecs ?? []).toReversed();
  const decodeInto = async (payload: Payload): Promise<void> => {
    let decoded: Array<Payload> = [payload];
    try {
      for (const codec of codecs) decoded = await codec.decode(decoded);
    } catch (error) {
      if (!keepUndecodable || error instanceof KeysUnavailable) throw error;
      return;
    }
    Object.assign(payload, decoded[0]);
  };
  const walk = async (value: unknown): Promise<void> => {
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
    if (isPayload(value)) return decodeInto(value);
    for (const field of Object.values(value)) await walk(field);
    if (isFailure(value)) showAttributes(value);
  };
  await walk(message);
  return message;
};
