import type { DataConverter, Payload } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";

/** A history, or a page of one, as Temporal gives it. */
type History = temporal.api.history.v1.IHistory;

/** The only message of a history with both. */
const isPayload = (value: object): value is Payload => "metadata" in value && "data" in value;

function* payloadsIn(value: unknown): Generator<Payload> {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  if (isPayload(value)) yield value;
  else for (const field of Object.values(value)) yield* payloadsIn(field);
}

/**
 * Decode the payloads of a history where they are, by the codecs of a converter: inputs, results, signals, heartbeats,
 * and what failures hold. What is not encrypted stays as it is. The client's `fetchHistory` decodes nothing.
 *
 * @param history as the client's `fetchHistory` returns it; it is changed.
 * @param dataConverter that the worker has, such as {@link encryptedDataConverter}.
 * @returns the same history.
 * @throws MissingKey, KeysUnavailable or UndecryptablePayload: then part of it may be decoded.
 * @example
 * ```ts
 * const history = await client.workflow.getHandle("invoice-7").fetchHistory();
 * await Worker.runReplayHistory({ workflowsPath }, await decodeHistory(history, dataConverter));
 * ```
 */
export const decodeHistory = async <A extends History>(
  history: A,
  dataConverter: DataConverter,
): Promise<A> => {
  const { payloadCodecs = [] } = dataConverter;
  for (const payload of payloadsIn(history.events)) {
    let decoded: Array<Payload> = [payload];
    for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
    Object.assign(payload, decoded[0]);
  }
  return history;
};
