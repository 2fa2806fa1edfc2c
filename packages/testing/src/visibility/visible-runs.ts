import type { WorkflowService } from "@temporalio/client";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { hostname } from "node:os";
import { type Attributes, readQuery, type Value } from "./query.ts";

type Info = proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;
type Time = proto.google.protobuf.ITimestamp;
type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;
type HistoryPage = proto.temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse;
type HistoryRequest =
  proto.temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryReverseRequest;
type ListRequest = proto.temporal.api.workflowservice.v1.IListWorkflowExecutionsRequest;

const {
  CountWorkflowExecutionsResponse,
  DescribeTaskQueueResponse,
  GetWorkflowExecutionHistoryReverseResponse,
  ListWorkflowExecutionsResponse,
} = proto.temporal.api.workflowservice.v1;
const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

/** As a query names them: `Running` of `WORKFLOW_EXECUTION_STATUS_RUNNING`. */
const STATUS_NAMES = new Map(
  Object.entries(WorkflowExecutionStatus).map(([name, value]) => [
    value,
    name
      .replace("WORKFLOW_EXECUTION_STATUS_", "")
      .split("_")
      .map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)
      .join(""),
  ]),
);

const millisecondsOf = ({ nanos, seconds }: Time): number =>
  Number(seconds ?? 0) * 1000 + Math.floor((nanos ?? 0) / 1e6);

const timeOf = (time: Time | null | undefined): string | undefined =>
  time === null || time === undefined ? undefined : new Date(millisecondsOf(time)).toISOString();

const own = (payload: Payload | undefined): Value | ReadonlyArray<Value> | undefined =>
  payload === undefined
    ? undefined
    : // The server takes a value of an attribute's own type only: a text, a number, or a list of texts.
      defaultPayloadConverter.fromPayload<Value | ReadonlyArray<Value>>(payload);

const attributesOf = (info: Info): Attributes => {
  const system: Readonly<Record<string, Value | undefined>> = {
    WorkflowId: info.execution?.workflowId ?? undefined,
    RunId: info.execution?.runId ?? undefined,
    WorkflowType: info.type?.name ?? undefined,
    ExecutionStatus: STATUS_NAMES.get(info.status ?? 0),
    TaskQueue: info.taskQueue ?? undefined,
    StartTime: timeOf(info.startTime),
    ExecutionTime: timeOf(info.executionTime ?? info.startTime),
    CloseTime: timeOf(info.closeTime),
  };
  return (name) =>
    name in system ? system[name] : own(info.searchAttributes?.indexedFields?.[name] ?? undefined);
};

/** Every run of a namespace, each as the server describes it, the newest first. */
const allRuns = async (service: WorkflowService, namespace: string): Promise<Array<Info>> => {
  const asked = { namespace, maximumPageSize: 10_000 };
  const [open, closed] = await Promise.all([
    service.listOpenWorkflowExecutions(asked),
    service.listClosedWorkflowExecutions(asked),
  ]);
  const described = await Promise.all(
    [...open.executions, ...closed.executions].map(async ({ execution = null }): Promise<Info> => {
      const { executionConfig, workflowExecutionInfo } = await service.describeWorkflowExecution({
        namespace,
        execution,
      });
      const taskQueue = executionConfig?.taskQueue?.name;
      return { ...workflowExecutionInfo, ...(taskQueue && { taskQueue }) };
    }),
  );
  const startOf = ({ startTime }: Info): number => (startTime ? millisecondsOf(startTime) : 0);
  return described.sort((one, other) => startOf(other) - startOf(one));
};

const found = async (
  service: WorkflowService,
  { namespace, query }: ListRequest,
): Promise<Array<Info>> => {
  const holds = readQuery(query ?? "");
  const runs = await allRuns(service, namespace ?? "default");
  return runs.filter((info) => holds(attributesOf(info)));
};

/** All events of a run, the last one first. */
const reversed = async (
  service: WorkflowService,
  { execution = null, namespace = null }: HistoryRequest,
): Promise<Array<HistoryEvent>> => {
  const events: Array<HistoryEvent> = [];
  let nextPageToken: Uint8Array | null = null;
  do {
    const page: HistoryPage = await service.getWorkflowExecutionHistory({
      namespace,
      execution,
      nextPageToken,
    });
    events.push(...(page.history?.events ?? []));
    nextPageToken = page.nextPageToken ?? null;
  } while (nextPageToken !== null && nextPageToken.length > 0);
  return events.reverse();
};

/** The look-ups, as far as they are called: with a request alone. */
interface Lookups {
  readonly listWorkflowExecutions: (request: ListRequest) => Promise<object>;
  readonly countWorkflowExecutions: (request: ListRequest) => Promise<object>;
  readonly describeTaskQueue: () => Promise<object>;
  readonly getWorkflowExecutionHistoryReverse: (request: HistoryRequest) => Promise<object>;
}

const answerLookups = (service: WorkflowService): void => {
  const lookups: Lookups = {
    listWorkflowExecutions: async (request) =>
      ListWorkflowExecutionsResponse.create({ executions: await found(service, request) }),
    countWorkflowExecutions: async (request) => {
      const { length: count } = await found(service, request);
      return CountWorkflowExecutionsResponse.fromObject({ count });
    },
    // A child reads by it whether it was reset.
    getWorkflowExecutionHistoryReverse: async (request) =>
      GetWorkflowExecutionHistoryReverseResponse.create({
        history: { events: await reversed(service, request) },
      }),
    // Whoever looks for workers finds that of the test, which polls all of its queues.
    describeTaskQueue: async () =>
      DescribeTaskQueueResponse.fromObject({
        pollers: [
          {
            identity: `${process.pid}@${hostname()}`,
            lastAccessTime: { seconds: Math.floor(Date.now() / 1000) },
          },
        ],
      }),
  };
  Object.assign(service, lookups);
};

/**
 * Let the clients and workers of a time-skipping server look runs up. The server knows every run, but has no visibility:
 * it answers `ListWorkflowExecutions` with UNIMPLEMENTED, which an activity would retry for ever.
 */
export const makeRunsVisible = ({
  connection,
  nativeConnection,
}: TestWorkflowEnvironment): void => {
  answerLookups(connection.workflowService);
  answerLookups(nativeConnection.workflowService);
};
