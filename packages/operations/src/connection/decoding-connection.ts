import { decodeMessage } from "@durable-payments/codec";
import type { Connection } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";

type Service = Connection["workflowService"];
type History = Service["getWorkflowExecutionHistory"];
type Reverse = Service["getWorkflowExecutionHistoryReverse"];
type Describe = Service["describeWorkflowExecution"];

/** What is read of runs as Temporal stores it, as far as it is called: with a request alone. */
interface Readings {
  readonly describeWorkflowExecution: (request: Parameters<Describe>[0]) => Promise<object>;
  readonly getWorkflowExecutionHistory: (request: Parameters<History>[0]) => Promise<object>;
  readonly getWorkflowExecutionHistoryReverse: (request: Parameters<Reverse>[0]) => Promise<object>;
}

/**
 * Give a connection by which clients read histories and pending activities decoded: the SDK's `fetchHistory` and
 * `describe().raw` are as Temporal stores them. A payload that cannot be decoded stays as it is. The codecs leave alone
 * what is decoded, so that the SDK may decode it once more.
 *
 * @param connection that the client would have otherwise; it is not changed.
 * @param dataConverter of the workers.
 * @returns the connection for `new Client`.
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
