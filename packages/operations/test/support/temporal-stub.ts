import { WORKFLOW } from "@durable-payments/protocol";
import { temporal } from "@temporalio/proto";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { buffer } from "node:stream/consumers";

const {
  ListWorkflowExecutionsResponse,
  StartWorkflowExecutionRequest,
  StartWorkflowExecutionResponse,
} = temporal.api.workflowservice.v1;

const RUNNING = temporal.api.enums.v1.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;

/** gRPC's codes, and the bytes before each of its messages: a flag and a length. */
const UNIMPLEMENTED = 12;
const FRAME_BYTES = 5;

const frame = (message: Uint8Array): Buffer => {
  const head = Buffer.alloc(FRAME_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

const respond = (stream: ServerHttp2Stream, code: number, message?: Uint8Array): void => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(code) }));
  stream.end(message && frame(message));
};

const messageOf = async (stream: ServerHttp2Stream): Promise<Uint8Array> =>
  (await buffer(stream)).subarray(FRAME_BYTES);

/** What the stub answers to a list of workflows: ids, a gRPC code, or nothing at all. */
export type Visibility = ReadonlyArray<string> | number | "noAnswer";

/** What the stub answers to a start, which it has taken: a gRPC code, or nothing at all; default: that it has. */
export type StartAnswer = number | "noAnswer";

/** Temporal as far as a start needs it: it takes each, whatever it answers, and lists what it is given. */
export class TemporalStub {
  /** The starts that it took. */
  readonly started: Array<temporal.api.workflowservice.v1.StartWorkflowExecutionRequest> = [];
  readonly #server: Http2Server;
  readonly #answer: StartAnswer;

  constructor(visibility: Visibility, answer: StartAnswer = 0) {
    this.#answer = answer;
    this.#server = createServer();
    this.#server.on("stream", (stream, headers) => {
      // A client that gives up resets its stream.
      stream.on("error", () => undefined);
      const method = headers[":path"]?.split("/").at(-1);
      if (method === "ListWorkflowExecutions") this.#list(stream, visibility);
      else if (method === "StartWorkflowExecution") void this.#start(stream);
      else respond(stream, UNIMPLEMENTED);
    });
  }

  #list(stream: ServerHttp2Stream, visibility: Visibility): void {
    if (visibility === "noAnswer") return;
    if (typeof visibility === "number") return respond(stream, visibility);
    const executions = visibility.map((workflowId) => ({
      execution: { workflowId, runId: "run-1" },
      type: { name: WORKFLOW.tracker },
      status: RUNNING,
      startTime: {},
    }));
    respond(stream, 0, ListWorkflowExecutionsResponse.encode({ executions }).finish());
  }

  async #start(stream: ServerHttp2Stream): Promise<void> {
    this.started.push(StartWorkflowExecutionRequest.decode(await messageOf(stream)));
    if (this.#answer === "noAnswer") return;
    if (this.#answer !== 0) return respond(stream, this.#answer);
    respond(stream, 0, StartWorkflowExecutionResponse.encode({ runId: "run-1" }).finish());
  }

  /** Listen on a free port of this machine; returns the address. */
  async listen(): Promise<string> {
    await new Promise<void>((settle) => {
      this.#server.listen(0, "127.0.0.1", settle);
    });
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("No port");
    return `127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
  }
}
