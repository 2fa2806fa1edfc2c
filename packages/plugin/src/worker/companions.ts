import { type QueueRates, type WorkerQueues, workerQueues } from "@durable-payments/activities";
import { readablePayloads } from "@durable-payments/activities/readable-payloads";
import { type NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { Struct } from "effect";

/** The queues of all accounts but the base queue, which is the user's worker's. */
const companionQueues = (
  taskQueue: string,
  rates: ReadonlyMap<string | undefined, QueueRates>,
): WorkerQueues => {
  // Runs without an account are refused on queues of their own, where no account is without a name.
  const { activityQueues, workflowQueues } = workerQueues(taskQueue, rates.get(undefined));
  const named = [...rates].flatMap(([name, own]) =>
    name === undefined ? [] : workerQueues(taskQueue, own, name).activityQueues,
  );
  return {
    activityQueues: [...activityQueues, ...named],
    workflowQueues: workflowQueues.slice(1),
  };
};

/** What the user says of one worker alone: what it runs, and how much of it at a time. */
const OF_ONE_WORKER = [
  "taskQueue",
  "connection",
  "plugins",
  "activities",
  "nexusServices",
  "workflowsPath",
  "workflowBundle",
  "bundlerOptions",
  "tuner",
  "enableNonLocalActivities",
  "maxActivitiesPerSecond",
  "maxTaskQueueActivitiesPerSecond",
  "maxConcurrentActivityTaskExecutions",
  "maxConcurrentLocalActivityExecutions",
  "maxConcurrentNexusTaskExecutions",
  "maxConcurrentWorkflowTaskExecutions",
  "maxConcurrentActivityTaskPolls",
  "maxConcurrentNexusTaskPolls",
  "maxConcurrentWorkflowTaskPolls",
  "maxEagerActivityReservationsPerWorkflowTask",
  "maxCachedWorkflows",
  "nonStickyToStickyPollRatio",
  "workflowTaskPollerBehavior",
  "activityTaskPollerBehavior",
  "nexusTaskPollerBehavior",
] as const satisfies ReadonlyArray<keyof WorkerOptions>;

/** What companions are made of. */
export interface CompanionsOptions {
  /** The user's worker, as it was created. */
  readonly worker: Worker;
  /** The options that it was created with. */
  readonly options: WorkerOptions;
  readonly connection: NativeConnection;
  /** By the name of the account, and by undefined of the one without a name. */
  readonly rates: ReadonlyMap<string | undefined, QueueRates>;
  readonly activities: object;
}

/**
 * The same connection with plugins of its own: those of the user's would configure the companions a second time, as their
 * options are those that his worker ended up with.
 */
const withPlugins = (
  connection: NativeConnection,
  plugins: ReadonlyArray<{ readonly name: string }>,
): NativeConnection =>
  // A connection whose field is another one.
  Object.create(connection, { plugins: { value: plugins } }) as NativeConnection;

/** The workers that were created, and why one could not be, where that is so. */
interface Created {
  readonly companions: ReadonlyArray<Worker>;
  readonly failure: PromiseRejectedResult | undefined;
}

/**
 * Create the workers of the queues beside the base queue. What the user's worker, and the plugins of it, say of the
 * namespace, the identity, converters, interceptors, versions and shutting down holds for them, too.
 */
export const createCompanions = async ({
  activities,
  connection,
  options,
  rates,
  worker,
}: CompanionsOptions): Promise<Created> => {
  const { dataConverter, identity, interceptors, namespace } = worker.options;
  const shared: Omit<WorkerOptions, "taskQueue"> = {
    shutdownForceTime: "1 minute",
    ...Struct.omit(options, OF_ONE_WORKER),
    // Plugins after ours may have changed these.
    ...(dataConverter && { dataConverter }),
    namespace,
    identity,
    interceptors: { ...interceptors, workflowModules: [] },
    connection: withPlugins(connection, [readablePayloads]),
    activities,
    // Who keeps no run of his own in memory keeps none of a batch.
    ...(options.maxCachedWorkflows === 0 && { maxCachedWorkflows: 0 }),
  };
  const { workflowBundle } = options;
  const { activityQueues, workflowQueues } = companionQueues(options.taskQueue, rates);
  const creations = await Promise.allSettled([
    ...workflowQueues.map((queue) =>
      Worker.create({ ...shared, ...queue, ...(workflowBundle && { workflowBundle }) }),
    ),
    ...activityQueues.map((queue) => Worker.create({ ...shared, ...queue })),
  ]);
  return {
    companions: creations.flatMap((creation) =>
      creation.status === "fulfilled" ? [creation.value] : [],
    ),
    failure: creations.find((creation) => creation.status === "rejected"),
  };
};
