import { decodeMessage } from "@durable-payments/codec";
import type { Connection } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";

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
