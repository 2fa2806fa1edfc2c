import { OPEN_RUNS } from "@durable-payments/protocol";
import { defaultPayloadConverter } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { buffer } from "node:stream/consumers";
import { connectTemporal, type OpenTemporal } from "../../src/facts/connection/temporal.ts";

const v1 = temporal.api.workflowservice.v1;
const { WorkflowExecutionStatus: Status } = temporal.api.enums.v1;

/** gRPC's codes, and the bytes before each of its messages: a flag and a length. */
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const FRAME_BYTES = 5;

const respond = (stream: ServerHttp2Stream, code: number, message?: Uint8Array): void => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(code) }));
  const head = Buffer.alloc(FRAME_BYTES);
  head.writeUInt32BE(message?.length ?? 0, 1);
  stream.end(message && Buffer.concat([head, message]));
};

type Event = temporal.api.history.v1.IHistoryEvent;

/** A run as the stub has it. */
export interface StubRun {
  readonly workflowId: string;
  readonly runId?: string;
  readonly type?: string;
  readonly status?: keyof typeof Status extends `WORKFLOW_EXECUTION_STATUS_${infer Name}`
    ? Name
    : never;
  readonly startedAt?: number;
  readonly closedAt?: number;
  readonly pending?: ReadonlyArray<temporal.api.workflow.v1.IPendingActivityInfo>;
  readonly events?: ReadonlyArray<Event>;
}

/** A point in time as Temporal has it. */
export const timestamp = (at: number): { readonly seconds: never; readonly nanos: number } => ({
  // The generated types know 64-bit numbers as Long alone; encoders take plain ones.
  seconds: Math.floor(at / 1000) as never,
  nanos: (at % 1000) * 1e6,
});

/** A failure of an activity of a type, as Temporal stores it. */
export const failureOf = (message: string, type: string) => ({
  message,
  applicationFailureInfo: { type },
});

/** A payload of JSON. */
export const payloadOf = (value: unknown) => defaultPayloadConverter.toPayload(value);

/** The same in a list. */
export const payloadsOf = (value: unknown) => ({ payloads: [payloadOf(value)] });

const statusOf = ({ status = "RUNNING" }: StubRun) => Status[`WORKFLOW_EXECUTION_STATUS_${status}`];

const infoOf = (run: StubRun) => ({
  execution: { workflowId: run.workflowId, runId: run.runId ?? `${run.workflowId}-run` },
  type: { name: run.type ?? "payout" },
  status: statusOf(run),
  startTime: timestamp(run.startedAt ?? 0),
  ...(run.closedAt !== undefined && { closeTime: timestamp(run.closedAt) }),
  taskQueue: "payments",
});

/** Temporal as far as reading needs it: it has the runs that it is given. */
export class TemporalStub {
  readonly #server: Http2Server;
  readonly queries: Array<string> = [];
  readonly started: Array<temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest> = [];
  /** Whether a worker polls a task queue. */
  isPolled: (taskQueue: string) => boolean = () => true;
  /** Called, where it is given, in the place of every answer: the server is not available. */
  down: (() => void) | undefined;

  readonly runs: ReadonlyArray<StubRun>;

  private constructor(runs: ReadonlyArray<StubRun>) {
    this.runs = runs;
    this.#server = createServer();
    this.#server.on("stream", (stream, headers) => {
      // A client that gives up resets its stream.
      stream.on("error", () => undefined);
      void this.#answer(stream, headers[":path"]?.split("/").at(-1) ?? "");
    });
  }

  async #answer(stream: ServerHttp2Stream, method: string): Promise<void> {
    const request = (await buffer(stream)).subarray(FRAME_BYTES);
    this.down?.();
    const answer = this.down === undefined ? this.#messageFor(method, request) : UNAVAILABLE;
    respond(
      stream,
      answer instanceof Uint8Array ? 0 : answer,
      answer instanceof Uint8Array ? answer : undefined,
    );
  }

  #find(execution: temporal.api.common.v1.IWorkflowExecution | null | undefined) {
    return this.runs.find(
      (run) =>
        run.workflowId === execution?.workflowId &&
        (!execution?.runId || infoOf(run).execution.runId === execution.runId),
    );
  }

  #messageFor(method: string, request: Uint8Array): Uint8Array | number {
    switch (method) {
      case "GetSystemInfo":
        return v1.GetSystemInfoResponse.encode({ serverVersion: "1.0", capabilities: {} }).finish();
      case "DescribeNamespace":
        return v1.DescribeNamespaceResponse.encode({
          config: { workflowExecutionRetentionTtl: timestamp(30 * 86_400_000) },
        }).finish();
      case "DescribeTaskQueue":
        return v1.DescribeTaskQueueResponse.encode({
          pollers: this.isPolled(v1.DescribeTaskQueueRequest.decode(request).taskQueue?.name ?? "")
            ? [{ identity: "1@host", lastAccessTime: timestamp(Date.now()) }]
            : [],
        }).finish();
      case "DescribeWorkflowExecution": {
        const run = this.#find(v1.DescribeWorkflowExecutionRequest.decode(request).execution);
        if (run === undefined) return NOT_FOUND;
        return v1.DescribeWorkflowExecutionResponse.encode({
          workflowExecutionInfo: infoOf(run),
          executionConfig: { taskQueue: { name: "payments" } },
          pendingActivities: [...(run.pending ?? [])],
        }).finish();
      }
      case "ListWorkflowExecutions": {
        const { query } = v1.ListWorkflowExecutionsRequest.decode(request);
        this.queries.push(query);
        return v1.ListWorkflowExecutionsResponse.encode({
          executions: this.runs.map(infoOf),
        }).finish();
      }
      case "CountWorkflowExecutions": {
        const isRunning =
          v1.CountWorkflowExecutionsRequest.decode(request).query.includes(OPEN_RUNS);
        const count = this.runs.filter(
          ({ status = "RUNNING" }) => (status === "RUNNING") === isRunning,
        );
        return v1.CountWorkflowExecutionsResponse.encode({ count: count.length as never }).finish();
      }
      case "GetWorkflowExecutionHistoryReverse": {
        const { execution } = v1.GetWorkflowExecutionHistoryReverseRequest.decode(request);
        const events = [...(this.#find(execution)?.events ?? [])].toReversed();
        return v1.GetWorkflowExecutionHistoryReverseResponse.encode({
          history: { events },
        }).finish();
      }
      case "GetWorkflowExecutionHistory": {
        const { execution } = v1.GetWorkflowExecutionHistoryRequest.decode(request);
        const events = (this.#find(execution)?.events ?? []).slice(-1);
        return v1.GetWorkflowExecutionHistoryResponse.encode({ history: { events } }).finish();
      }
      case "StartWorkflowExecution":
        this.started.push(v1.StartWorkflowExecutionRequest.decode(request));
        return v1.StartWorkflowExecutionResponse.encode({ runId: "started-run" }).finish();
      default:
        return UNIMPLEMENTED;
    }
  }

  /** Starts a stub on a free port, and connects to it. */
  static async connect(
    runs: ReadonlyArray<StubRun>,
  ): Promise<{ readonly stub: TemporalStub; readonly temporal: OpenTemporal } & AsyncDisposable> {
    const stub = new TemporalStub(runs);
    await new Promise<void>((settle) => {
      stub.#server.listen(0, "127.0.0.1", settle);
    });
    const address = stub.#server.address();
    if (address === null || typeof address === "string") throw new Error("No port");
    const settings = {
      address: `127.0.0.1:${address.port}`,
      namespace: "default",
      taskQueue: "payments",
      connectionOptions: {},
      webUi: "http://localhost:8233",
    };
    const connected = await connectTemporal(settings);
    return {
      stub,
      temporal: connected,
      [Symbol.asyncDispose]: async () => {
        await connected.close();
        stub.#server.close();
      },
    };
  }
}
