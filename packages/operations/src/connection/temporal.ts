import { messageOf } from "@durable-payments/api-core/values";
import { checkDataConverter } from "@durable-payments/codec";
import {
  isOnThisMachine,
  NOTHING_LISTENS,
  whyUnreachable,
} from "@durable-payments/protocol/temporal-connection";
import {
  Client,
  Connection,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import proto from "@temporalio/proto";
import { setTimeout } from "node:timers/promises";
import { ConnectionFailed, type NextOperation } from "../errors.ts";
import { decodingConnection, readablePayloads } from "./readable-payloads.ts";
import type { TemporalSettings } from "./settings.ts";
import { detailsOf } from "./temporal-errors.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/** A page of 200 runs with the longest memos; gRPC's own bound, 4 MB, would let three such runs end every list. */
const LONGEST_ANSWER = 512 * 1024 * 1024;

/** A connection to Temporal. */
export interface Temporal {
  /** It reads histories decoded, where the settings have a data converter. */
  readonly client: Client;
  /** As Temporal answers. */
  readonly connection: Connection;
  readonly settings: TemporalSettings;
}

/** What listens there is looked at once a connection takes longer than it does within a data centre. */
const LOOK_AFTER_MS = 250;

const open = async (settings: TemporalSettings): Promise<Connection> => {
  const { address, connectionOptions } = settings;
  const connection = Connection.lazy({
    ...connectionOptions,
    ...(settings.apiKey && { apiKey: settings.apiKey }),
    address,
    connectTimeout: CONNECT_TIMEOUT_MS,
    channelArgs: { "grpc.max_receive_message_length": LONGEST_ANSWER },
    plugins: [readablePayloads],
  });
  // Sooner than gRPC, which would try until its time is over.
  const nobody = setTimeout(LOOK_AFTER_MS, undefined, { ref: false }).then(() =>
    whyUnreachable({ address, tls: connectionOptions.tls }),
  );
  try {
    await Promise.race([
      connection.ensureConnected(),
      nobody.then((why) =>
        why === undefined ? connection.ensureConnected() : Promise.reject(new Error(why)),
      ),
    ]);
    return connection;
  } catch (error) {
    await connection.close();
    const said = detailsOf(error);
    const why =
      said === "Failed to connect before the deadline"
        ? `nothing answers there within ${CONNECT_TIMEOUT_MS / 1000} s`
        : said;
    const isToStart = why === NOTHING_LISTENS && isOnThisMachine(settings);
    throw new ConnectionFailed({
      reason: "cannotConnect",
      message: `Cannot connect to Temporal at ${address} (TEMPORAL_ADDRESS): ${why}.`,
      ...(isToStart && { next: { operation: "startServer" } }),
    });
  }
};

const checkKeys = async (dataConverter: DataConverter): Promise<void> => {
  try {
    await checkDataConverter(dataConverter);
  } catch (error) {
    throw new ConnectionFailed({ reason: "cannotConnect", message: `${messageOf(error)}.` });
  }
};

/** Connects to Temporal within about five seconds; the caller closes the connection. */
export const connectTemporal = async (settings: TemporalSettings): Promise<Temporal> => {
  const { dataConverter, namespace } = settings;
  if (dataConverter !== undefined) await checkKeys(dataConverter);
  const connection = await open(settings);
  const client = new Client({
    namespace,
    ...(dataConverter === undefined
      ? { connection }
      : { connection: decodingConnection(connection, dataConverter), dataConverter }),
  });
  return { client, connection, settings };
};

/** Describes a run of a workflow id, by default the latest; undefined where Temporal knows none. */
export const findRun = async (
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> => {
  try {
    return await client.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
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
