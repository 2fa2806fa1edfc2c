/*
 * Connects to Temporal, and finds runs.
 *
 * The SDK's own calls give histories and pending activities as they are stored, encrypted if there is a keyring. So a
 * connection decodes them for all its users.
 */
import { messageOf } from "@durable-payments/client/values";
import {
  checkDataConverter,
  decodeMessage,
  InvalidDataConverter,
  readDataConverter,
} from "@durable-payments/codec";
import { accountOfQueue } from "@durable-payments/protocol/calls";
import { pollersOf } from "@durable-payments/protocol/task-queues";
import {
  isOnThisMachine,
  NOT_TEMPORAL,
  NOTHING_LISTENS,
  readTemporalConfiguration,
  rereadApiKey,
  whyUnreachable,
} from "@durable-payments/protocol/temporal-connection";
import { InvalidSettings } from "@durable-payments/client/effect";
import {
  type EndOfRun,
  listedRuns,
  queryTexts,
  taskQueueOf,
  WORKFLOW,
} from "@durable-payments/protocol";
import { readSettings, type Settings } from "@durable-payments/protocol/settings";
import {
  Client,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { filter } from "effect/Record";
import { setTimeout } from "node:timers/promises";
import { connectionFailed, type NextAction } from "../../errors.ts";
import { OPEN_WITHIN_MS } from "./shared.ts";
import { detailsOf } from "./temporal-errors.ts";

/** Connection to Temporal, and the worker's task queue. */
export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** TLS, API key and metadata; they hold secrets. */
  readonly connectionOptions: ReturnType<typeof loadClientConnectConfig>["connectionOptions"];
  /** Encoding of payloads; left out if Temporal stores them unencoded. */
  readonly dataConverter?: DataConverter;
  /** The current API key of `TEMPORAL_API_KEY_FILE`, if set. */
  readonly apiKey?: () => string;
  /** Address of the Web UI, by default that of a local dev server; without it no links are made. */
  readonly webUi?: string;
}

/** Default address of the Web UI of Temporal's dev server. */
const localWebUi = (address: string): string | undefined =>
  /^(localhost|127\.0\.0\.1):7233$/.test(address) ? "http://localhost:8233" : undefined;

/**
 * Reads how Temporal is reached: its environment configuration, and the settings of the installation.
 *
 * @param environment variables by name: `TEMPORAL_*`, `TEMPORAL_API_KEY_FILE`, `TEMPORAL_UI_URL`.
 * @param settings default: those of the environment, and of the file that it names.
 * @throws ConnectionFailed if one of them is invalid.
 */
export const temporalSettings = (
  environment: Readonly<Record<string, string | undefined>>,
  settings?: Settings,
): TemporalSettings => {
  const overrideEnvVars = filter(environment, (value) => value !== undefined);
  try {
    const known = settings ?? readSettings(environment);
    const { connectionOptions, namespace } = readTemporalConfiguration(
      environment,
      () => loadClientConnectConfig({ overrideEnvVars }),
      known,
    );
    // A long-running tool notices a new key. If the file is gone, Temporal's own error is clearer.
    const apiKey = rereadApiKey(environment, () => undefined);
    const address = connectionOptions.address || "localhost:7233";
    const webUi = known.notify?.webUi ?? localWebUi(address);
    const dataConverter = readDataConverter(known, namespace || "default");
    return {
      address,
      namespace: namespace || "default",
      taskQueue: taskQueueOf(known.taskQueue),
      connectionOptions,
      ...(dataConverter !== undefined && { dataConverter }),
      ...(apiKey && { apiKey }),
      ...(webUi ? { webUi } : {}),
    };
  } catch (error) {
    throw connectionFailed(
      "cannotConnect",
      error instanceof InvalidDataConverter || error instanceof InvalidSettings
        ? `${error.message.replace(/\.$/, "")}.`
        : `Temporal's configuration is invalid: ${messageOf(error)}`,
    );
  }
};

/** Status of a run in Temporal. A run that continued as new is running. */
export type RunState = "running" | EndOfRun;

/** Size of 500 runs with the longest memos. With gRPC's default of 4 MB, three such runs would break every list. */
const LONGEST_ANSWER = 512 * 1024 * 1024;

/** A connection to Temporal. */
export interface Temporal {
  /** Returns decoded histories if the settings have a data converter. */
  readonly client: Client;
  /** As Temporal answers. */
  readonly connection: Connection;
  readonly settings: TemporalSettings;
}

/** A connection that can be closed. */
export interface OpenTemporal extends Temporal {
  /** Closes the connection. Abandoned calls end instead of being retried. */
  readonly close: () => Promise<void>;
}

type Interceptor = NonNullable<ConnectionOptions["interceptors"]>[number];

/** gRPC's status CANCELLED, which is not retried. */
const CANCELLED = 1;

/** Rejects calls after a close: a retry would throw in its timer and end the process. */
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
    // Only the part that a retry uses, and a plain call.
    return (isClosed() ? ended : nextCall(options)) as ReturnType<Interceptor>;
  };

/** The address is examined if a connection takes longer than usual within a data centre. */
const LOOK_AFTER_MS = 250;

const open = async (settings: TemporalSettings): Promise<Omit<OpenTemporal, "client">> => {
  const { address, connectionOptions } = settings;
  let isClosed = false;
  const connection = Connection.lazy({
    ...connectionOptions,
    ...(settings.apiKey && { apiKey: settings.apiKey }),
    address,
    connectTimeout: OPEN_WITHIN_MS,
    channelArgs: { "grpc.max_receive_message_length": LONGEST_ANSWER },
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endIf(() => isClosed)],
  });
  const close = () => {
    isClosed = true;
    return connection.close();
  };
  // Sooner than gRPC, which would try until its deadline.
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
      `Cannot connect to Temporal at ${address}: ${why}.`,
      isToStart ? { action: "startServer" } : undefined,
    );
  }
};

/** Fields of runs that are read as Temporal stores them. */
const READINGS = [
  "describeWorkflowExecution",
  "getWorkflowExecutionHistory",
  "getWorkflowExecutionHistoryReverse",
] as const;

/**
 * Returns a connection by which clients read histories and pending activities decoded, which the SDK's `fetchHistory`
 * and `describe().raw` are not. Payloads that cannot be decoded stay unchanged; decoding twice is harmless.
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
    // It is only called with a request.
    const read = workflowService[name].bind(workflowService) as (
      request: object,
    ) => Promise<object>;
    const value = async (request: object) =>
      decodeMessage(await read(request), dataConverter, { keepUndecodable: true });
    return [name, { value }] as const;
  });
  // The same service and connection, with three replaced methods.
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

// Runs are read as Temporal stores them. A starter can write any bytes into the memo, which the SDK would decode; one
// invalid memo would break a list.

export { findRun } from "@durable-payments/protocol";

/** Finds runs by a visibility query: open runs first, then the latest to end. */
export async function* listed(client: Client, query: string) {
  for await (const { closeTime, execution, taskQueue } of listedRuns(client, query))
    yield {
      workflowId: execution?.workflowId ?? "",
      runId: execution?.runId ?? "",
      taskQueue: taskQueue ?? "",
      isOpen: !closeTime,
    };
}

/**
 * Returns a message and remedy if no worker polls a queue; undefined if one does. A workflow may name the account of a
 * queue, and no setting lists a name that is misspelt there.
 */
export const noWorker = async (
  client: Client,
  taskQueue: string,
  tasks: "activity" | "workflow" = "workflow",
): Promise<{ readonly message: string; readonly next: NextAction } | undefined> => {
  if ((await pollersOf(client, tasks, taskQueue)).length > 0) return undefined;
  const account = accountOfQueue(taskQueue);
  const named =
    account === undefined
      ? ""
      : ` Its account "${account}" is named by the workflow: correct the name, or start a worker for the account.`;
  return {
    message: `No worker polls task queue "${taskQueue}" in namespace "${client.options.namespace}".${named}`,
    next: { action: "startWorker" },
  };
};

const NOT_PAYING = [WORKFLOW.tracker, WORKFLOW.notifier, WORKFLOW.checkWorker, WORKFLOW.runBatch];

/** Visibility condition that excludes the project's internal workflows, and those that start the rows of a file. */
export const PAYING = `WorkflowType NOT IN ${queryTexts(NOT_PAYING)}`;
