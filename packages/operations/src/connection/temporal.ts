import { messageOf } from "@durable-payments/api-core/values";
import {
  checkDataConverter,
  decodeMessage,
  InvalidDataConverter,
  readDataConverter,
} from "@durable-payments/codec";
import {
  isOnThisMachine,
  NOT_TEMPORAL,
  NOTHING_LISTENS,
  readTemporalConfiguration,
  rereadApiKey,
  whyUnreachable,
} from "@durable-payments/protocol/temporal-connection";
import { isNotFound, taskQueueOf } from "@durable-payments/protocol";
import {
  Client,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import proto from "@temporalio/proto";
import { setTimeout } from "node:timers/promises";
import { connectionFailed, type NextOperation } from "../errors.ts";
import { detailsOf, isNamespaceMissing } from "./temporal-errors.ts";

/** How Temporal is reached, and where the worker polls. */
export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** TLS, API key and metadata; they hold secrets. */
  readonly connectionOptions: ReturnType<typeof loadClientConnectConfig>["connectionOptions"];
  /** How payloads are encoded; left out where Temporal stores them as they are. */
  readonly dataConverter?: DataConverter;
  /** The API key as the file of `TEMPORAL_API_KEY_FILE` holds it now, where that is named. */
  readonly apiKey?: () => string;
  /** Address of the Web UI, by default that of a local dev server; without it no links are made. */
  readonly webUi?: string;
}

/** Where the dev server of Temporal's command line, started without options, has its Web UI. */
const localWebUi = (address: string): string | undefined =>
  /^(localhost|127\.0\.0\.1):7233$/.test(address) ? "http://localhost:8233" : undefined;

/**
 * Reads Temporal's environment configuration: variables, and a profile of its configuration file.
 *
 * @param environment variables by name: `TEMPORAL_*`, `TEMPORAL_API_KEY_FILE`, `PAYMENTS_TASK_QUEUE`, `TEMPORAL_UI_URL`, `PAYMENTS_KEYRING`,
 *   `PAYMENTS_DATA_CONVERTER`.
 * @throws ConnectionFailed where it is wrong.
 */
export const temporalSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): TemporalSettings => {
  const overrideEnvVars = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
  try {
    const { connectionOptions, namespace } = readTemporalConfiguration(environment, () =>
      loadClientConnectConfig({ overrideEnvVars }),
    );
    // A tool that is open for long learns of a new key; of a file that is gone, Temporal says more.
    const apiKey = rereadApiKey(environment, () => undefined);
    const address = connectionOptions.address || "localhost:7233";
    const webUi = environment["TEMPORAL_UI_URL"] || localWebUi(address);
    const dataConverter = readDataConverter(environment, namespace || "default");
    return {
      address,
      namespace: namespace || "default",
      taskQueue: taskQueueOf(environment["PAYMENTS_TASK_QUEUE"]),
      connectionOptions,
      ...(dataConverter !== undefined && { dataConverter }),
      ...(apiKey && { apiKey }),
      ...(webUi ? { webUi } : {}),
    };
  } catch (error) {
    throw connectionFailed(
      "cannotConnect",
      error instanceof InvalidDataConverter
        ? `${error.message}.`
        : `Temporal's configuration (TEMPORAL_* or TEMPORAL_CONFIG_FILE) is wrong: ${messageOf(error)}`,
    );
  }
};

/** How Temporal has a run. */
export type RunState = "running" | "succeeded" | "failed" | "timedOut" | "cancelled" | "terminated";

const Status = proto.temporal.api.enums.v1.WorkflowExecutionStatus;

/** One that was continued goes on. */
const STATES: Readonly<Partial<Record<number, RunState>>> = {
  [Status.WORKFLOW_EXECUTION_STATUS_COMPLETED]: "succeeded",
  [Status.WORKFLOW_EXECUTION_STATUS_FAILED]: "failed",
  [Status.WORKFLOW_EXECUTION_STATUS_CANCELED]: "cancelled",
  [Status.WORKFLOW_EXECUTION_STATUS_TERMINATED]: "terminated",
  [Status.WORKFLOW_EXECUTION_STATUS_TIMED_OUT]: "timedOut",
};

const CONNECT_TIMEOUT_MS = 5_000;

/** A page of 500 runs with the longest memos; gRPC's own bound, 4 MB, would let three such runs end every list. */
const LONGEST_ANSWER = 512 * 1024 * 1024;

/** A connection to Temporal. */
export interface Temporal {
  /** It reads histories decoded, where the settings have a data converter. */
  readonly client: Client;
  /** As Temporal answers. */
  readonly connection: Connection;
  readonly settings: TemporalSettings;
}

/** A connection that can be closed. */
export interface OpenTemporal extends Temporal {
  /** Closes the connection. Calls that nobody waits for any more end, in the place of their next retry. */
  readonly close: () => Promise<void>;
}

type Interceptor = NonNullable<ConnectionOptions["interceptors"]>[number];

/** gRPC's status CANCELLED, which is not retried. */
const CANCELLED = 1;

/** Ends what is called after a close: the retry of a call would throw in its timer, and end the process. */
const endIf =
  (isClosed: () => boolean): Interceptor =>
  (options, nextCall) => {
    const ignore = () => undefined;
    const ended: Partial<ReturnType<Interceptor>> = {
      start: (metadata, listener) =>
        listener?.onReceiveStatus?.({ code: CANCELLED, details: "It was closed.", metadata }),
      sendMessage: ignore,
      halfClose: ignore,
    };
    // As far as a retry uses it; and a call with nothing added to it.
    return (isClosed() ? ended : nextCall(options)) as ReturnType<Interceptor>;
  };

/** What listens there is looked at once a connection takes longer than it does within a data centre. */
const LOOK_AFTER_MS = 250;

const open = async (settings: TemporalSettings): Promise<Omit<OpenTemporal, "client">> => {
  const { address, connectionOptions } = settings;
  let isClosed = false;
  const connection = Connection.lazy({
    ...connectionOptions,
    ...(settings.apiKey && { apiKey: settings.apiKey }),
    address,
    connectTimeout: CONNECT_TIMEOUT_MS,
    channelArgs: { "grpc.max_receive_message_length": LONGEST_ANSWER },
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endIf(() => isClosed)],
  });
  const close = () => {
    isClosed = true;
    return connection.close();
  };
  // Sooner than gRPC, which would try until its time is over.
  const looked = async () => {
    await setTimeout(LOOK_AFTER_MS, undefined, { ref: false });
    const why = await whyUnreachable({ address, tls: connectionOptions.tls });
    return why === undefined ? connection.ensureConnected() : Promise.reject(new Error(why));
  };
  try {
    await Promise.race([connection.ensureConnected(), looked()]);
    return { connection, settings, close };
  } catch (error) {
    await close();
    const said = detailsOf(error);
    const why = said === "Failed to connect before the deadline" ? NOT_TEMPORAL : said;
    const isToStart = why === NOTHING_LISTENS && isOnThisMachine(settings);
    throw connectionFailed(
      "cannotConnect",
      `Cannot connect to Temporal at ${address} (TEMPORAL_ADDRESS): ${why}.`,
      isToStart ? { operation: "startServer" } : undefined,
    );
  }
};

/** What is read of runs as Temporal stores it. */
const READINGS = [
  "describeWorkflowExecution",
  "getWorkflowExecutionHistory",
  "getWorkflowExecutionHistoryReverse",
] as const;

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
  const readings = READINGS.map((name) => {
    // As far as it is called: with a request alone.
    const read = workflowService[name].bind(workflowService) as (
      request: object,
    ) => Promise<object>;
    const value = async (request: object) =>
      decodeMessage(await read(request), dataConverter, { keepUndecodable: true });
    return [name, { value }] as const;
  });
  // The same service, three of whose methods are others; and the same connection with it.
  const decoding = Object.create(workflowService, Object.fromEntries(readings)) as object;
  return Object.create(connection, { workflowService: { value: decoding } }) as Connection;
};

/** Connects to Temporal within about five seconds; the caller closes the connection. */
export const connectTemporal = async (settings: TemporalSettings): Promise<OpenTemporal> => {
  const { dataConverter, namespace } = settings;
  if (dataConverter !== undefined)
    await checkDataConverter(dataConverter).catch((error: unknown) => {
      throw connectionFailed("cannotConnect", `${messageOf(error)}.`);
    });
  const opened = await open(settings);
  const { connection } = opened;
  const client = new Client({
    namespace,
    ...(dataConverter === undefined
      ? { connection }
      : { connection: decodingConnection(connection, dataConverter), dataConverter }),
  });
  return { ...opened, client };
};

/** One run of a workflow id. */
export interface RunOfId {
  readonly workflowId: string;
  readonly runId: string;
}

// Runs are read as Temporal stores them: whoever may start one can write any bytes into its memo, which the SDK decodes,
// and one that does not decode would end a list.

/** Finds runs by a query of Temporal's visibility: the latest to end after those that run. */
export async function* listed(
  { options: { namespace }, workflowService }: Client,
  query: string,
): AsyncGenerator<RunOfId> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize: 500,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const { execution } of page.executions)
      yield { workflowId: execution?.workflowId ?? "", runId: execution?.runId ?? "" };
    nextPageToken = page.nextPageToken;
  } while (nextPageToken?.length);
}

/** Describes a run of a workflow id, by default the latest; undefined where Temporal knows none. */
export const findRun = async (
  { options: { namespace }, workflowService }: Client,
  workflowId: string,
  runId?: string,
) => {
  const execution = { workflowId, ...(runId !== undefined && { runId }) };
  try {
    const raw = await workflowService.describeWorkflowExecution({ namespace, execution });
    const info = raw.workflowExecutionInfo;
    return {
      raw,
      runId: info?.execution?.runId ?? "",
      type: info?.type?.name ?? "",
      state: STATES[info?.status ?? 0] ?? ("running" as const),
    };
  } catch (error) {
    if (isNotFound(error) && !isNamespaceMissing(error)) return undefined;
    throw error;
  }
};

const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } =
  proto.temporal.api.enums.v1.TaskQueueType;
const QUEUES = { activity: TASK_QUEUE_TYPE_ACTIVITY, workflow: TASK_QUEUE_TYPE_WORKFLOW } as const;

/** A worker polls at least once a minute; Temporal keeps those that are gone for five. */
const SEEN_WITHIN_MS = 90_000;

/** Returns the identities of those who poll a task queue for the tasks of workflows or of activities. */
export const pollersOf = async (
  { options, workflowService }: Client,
  tasks: keyof typeof QUEUES,
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: QUEUES[tasks],
  });
  const oldest = Date.now() - SEEN_WITHIN_MS;
  return (pollers ?? [])
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest)
    .map(({ identity }) => identity ?? "");
};

/** Says that nobody takes up the tasks of a queue, and what to do; undefined where a worker polls it. */
export const noWorker = async (
  client: Client,
  taskQueue: string,
): Promise<{ readonly message: string; readonly next: NextOperation } | undefined> =>
  (await pollersOf(client, "workflow", taskQueue)).length > 0
    ? undefined
    : {
        message: `No worker polls task queue "${taskQueue}" in namespace "${client.options.namespace}".`,
        next: { operation: "startWorker" },
      };
