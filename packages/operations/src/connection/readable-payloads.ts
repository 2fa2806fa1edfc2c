import { decodeMessage } from "@durable-payments/codec";
import type { Connection } from "@temporalio/client";
import { type DataConverter, defaultPayloadConverter, ValueError } from "@temporalio/common";
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
export const readPayload = (payload: temporal.api.common.v1.IPayload): unknown => {
  if (metadataText(payload, "encoding") === ENCRYPTED) {
    const keyId = metadataText(payload, "encryption-key-id").replaceAll(/[^\w.-]/g, "?");
    throw new ValueError(
      `A payload is encrypted${keyId === "" ? "" : ` under the key ${keyId}`}, which is not here (PAYMENTS_KEYRING)`,
    );
  }
  const value = defaultPayloadConverter.fromPayload<unknown>(payload);
  if (isDeeperThan(value, MOST_LEVELS)) throw new ValueError(`More than ${MOST_LEVELS} levels`);
  return value;
};

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
