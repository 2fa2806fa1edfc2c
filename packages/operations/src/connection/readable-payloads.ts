import { decodeMessage } from "@durable-payments/codec";
import type { ClientPlugin, Connection } from "@temporalio/client";
import {
  type DataConverter,
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  type PayloadConverter,
  ValueError,
} from "@temporalio/common";
import { loadDataConverter } from "@temporalio/common/lib/internal-non-workflow/index.js";
import type { temporal } from "@temporalio/proto";

/** What we write is not half as deep; whoever walks through a value that is much deeper runs out of stack. */
const MOST_LEVELS = 64;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  !ArrayBuffer.isView(value) &&
  (levels === 0 || Object.values(value).some((field) => isDeeperThan(field, levels - 1)));

const metadataText = ({ metadata }: temporal.api.common.v1.IPayload, name: string): string =>
  Buffer.from(metadata?.[name] ?? [])
    .toString()
    .slice(0, 64);

/** The encoding of `@durable-payments/codec`, and of the samples of Temporal; its metadata name the key. */
const ENCRYPTED = "binary/encrypted";

/** Decodes a payload that anybody may have written; throws where it is encrypted, no JSON, or nested too deep. */
export const readPayload = (
  payload: temporal.api.common.v1.IPayload,
  converter: PayloadConverter = defaultPayloadConverter,
): unknown => {
  if (metadataText(payload, "encoding") === ENCRYPTED) {
    const keyId = keyIdOf(payload);
    throw new ValueError(
      `A payload is encrypted${keyId === "" ? "" : ` under the key ${keyId}`}, which is not here (PAYMENTS_KEYRING)`,
    );
  }
  const value = converter.fromPayload<unknown>(payload);
  if (isDeeperThan(value, MOST_LEVELS)) throw new ValueError(`More than ${MOST_LEVELS} levels`);
  return value;
};

const keyIdOf = (payload: temporal.api.common.v1.IPayload): string =>
  metadataText(payload, "encryption-key-id").replaceAll(/[^\w.-]/g, "?");

const unreadable = (payload: Payload): Payload => {
  const encoding = metadataText(payload, "encoding").slice(0, 40);
  const keyId = keyIdOf(payload);
  return defaultPayloadConverter.toPayload({
    unreadable: keyId === "" ? encoding : `${encoding}, key ${keyId}`,
  });
};

/** Name of the error by which codecs say that all keys are out of reach. */
const KEYS_UNAVAILABLE = "KeysUnavailable";

/** A codec of the converter's own, which one payload that it cannot decode keeps from no other. */
const patient = (codec: PayloadCodec): PayloadCodec => ({
  encode: (payloads, context) => codec.encode(payloads, context),
  decode: async (payloads, context) => {
    try {
      return await codec.decode(payloads, context);
    } catch (error) {
      // Nothing that is encoded can be read, which is no matter of this payload.
      if (error instanceof Error && error.name === KEYS_UNAVAILABLE) throw error;
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
 * `{ "unreadable": "binary/encrypted, key k1" }`. Whoever may start a run can write any bytes into its memo, and the
 * SDK decodes the memos of all runs that it lists: one of another encoding would end the list. Converters and codecs of
 * the client's own stay.
 */
export const readablePayloads = {
  name: "durable-payments.readable-payloads",
  configureClient: (options) => ({
    ...options,
    dataConverter: readable(options.dataConverter),
  }),
} as const satisfies ClientPlugin;

type Service = Connection["workflowService"];

/** What is read of runs as Temporal stores it, as far as it is called: with a request alone. */
type Readings = {
  readonly [
    Name in
      | "describeWorkflowExecution"
      | "getWorkflowExecutionHistory"
      | "getWorkflowExecutionHistoryReverse"
  ]: (request: Parameters<Service[Name]>[0]) => Promise<object>;
};

/**
 * Returns a connection by which clients read histories and pending activities decoded, which the SDK's `fetchHistory`
 * and `describe().raw` are not. What cannot be decoded stays as it is; what is decoded may be decoded once more.
 *
 * @example
 * ```ts
 * const client = new Client({ connection: decodingConnection(connection, dataConverter), dataConverter });
 * ```
 */
export const decodingConnection = (
  connection: Connection,
  dataConverter: DataConverter,
): Connection => {
  const { workflowService } = connection;
  const decoded = <A extends object>(answer: A): Promise<A> =>
    decodeMessage(answer, dataConverter, { keepUndecodable: true });
  const readings: Readings = {
    describeWorkflowExecution: async (request) =>
      decoded(await workflowService.describeWorkflowExecution(request)),
    getWorkflowExecutionHistory: async (request) =>
      decoded(await workflowService.getWorkflowExecutionHistory(request)),
    getWorkflowExecutionHistoryReverse: async (request) =>
      decoded(await workflowService.getWorkflowExecutionHistoryReverse(request)),
  };
  // The same service, three of whose methods are others; and the same connection with it.
  const decoding = Object.assign(Object.create(workflowService) as Service, readings);
  return Object.create(connection, { workflowService: { value: decoding } }) as Connection;
};
