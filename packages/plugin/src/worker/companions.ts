import { accountQueue, batchQueue } from "@durable-payments/protocol";
import { type NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { Struct } from "effect";

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

/** Activities of one account by their types, and how many of them begin in a second. */
export interface AccountActivities {
  readonly name: string | undefined;
  readonly activities: object;
  readonly perSecond: number | undefined;
}

/** What companions are made of. */
export interface CompanionsOptions {
  /** The user's worker, as it was created. */
  readonly worker: Worker;
  /** The options that it was created with. */
  readonly options: WorkerOptions;
  readonly connection: NativeConnection;
  /** The first is that of the base queue and of batches. */
  readonly accounts: readonly [AccountActivities, ...ReadonlyArray<AccountActivities>];
  /** The part of the rate that batches may use. */
  readonly batchShare: number;
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
  accounts,
  batchShare,
  connection,
  options,
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
    connection: withPlugins(connection, []),
    // Who keeps no run of his own in memory keeps none of a batch.
    ...(options.maxCachedWorkflows === 0 && { maxCachedWorkflows: 0 }),
  };
  const { taskQueue, workflowBundle } = options;
  const [first] = accounts;
  const rate = (perSecond: number | undefined) =>
    perSecond === undefined ? {} : { maxTaskQueueActivitiesPerSecond: perSecond };
  const creations = await Promise.allSettled([
    Worker.create({
      ...shared,
      taskQueue: batchQueue(taskQueue),
      activities: first.activities,
      ...rate(first.perSecond && first.perSecond * batchShare),
      ...(workflowBundle && { workflowBundle }),
    }),
    ...accounts.flatMap(({ activities, name, perSecond }) =>
      name === undefined
        ? []
        : [
            Worker.create({
              ...shared,
              taskQueue: accountQueue(taskQueue, name),
              activities,
              ...rate(perSecond),
            }),
          ],
    ),
  ]);
  return {
    companions: creations.flatMap((creation) =>
      creation.status === "fulfilled" ? [creation.value] : [],
    ),
    failure: creations.find((creation) => creation.status === "rejected"),
  };
};
