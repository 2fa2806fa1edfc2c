import { accountQueue, batchQueue } from "@durable-payments/protocol";
import { type NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { Struct } from "effect";

/** Options of the user's worker alone: its work, and how much of it at a time. */
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
interface AccountActivities {
  readonly name: string | undefined;
  readonly activities: object;
  readonly perSecond: number | undefined;
}

/** The parts that companions are made from. */
export interface CompanionsOptions {
  /** The user's worker, as it was created. */
  readonly worker: Worker;
  /** The options that it was created with. */
  readonly options: WorkerOptions;
  readonly connection: NativeConnection;
  /** The first uses the base queue, and the queue of batches. */
  readonly accounts: readonly [AccountActivities, ...ReadonlyArray<AccountActivities>];
  /** The part of the rate that batches may use. */
  readonly batchShare: number;
}

/** Limits a task queue to a rate, if there is one. */
export const rateOf = (perSecond: number | undefined) =>
  perSecond === undefined ? {} : { maxTaskQueueActivitiesPerSecond: perSecond };

/**
 * Creates the workers of the further queues, with the namespace, identity, converters, interceptors, version and
 * shutdown of the user's worker and its plugins. Returns those that were created, and why one could not be created, if
 * that is so.
 */
export const createCompanions = async ({
  accounts,
  batchShare,
  connection,
  options,
  worker,
}: CompanionsOptions) => {
  const { dataConverter, identity, interceptors, namespace } = worker.options;
  const { taskQueue, workflowBundle } = options;
  const shared: Omit<WorkerOptions, "taskQueue"> = {
    shutdownForceTime: "1 minute",
    ...Struct.omit(options, OF_ONE_WORKER),
    // Plugins after ours may have changed these.
    ...(dataConverter && { dataConverter }),
    namespace,
    identity,
    interceptors: { ...interceptors, workflowModules: [] },
    // A connection without plugins: those of the user's would configure the companions a second time.
    connection: Object.create(connection, { plugins: { value: [] } }) as NativeConnection,
    // A worker that caches no run caches none of a batch.
    ...(options.maxCachedWorkflows === 0 && { maxCachedWorkflows: 0 }),
  };
  const ofBatches = ({ activities, perSecond }: AccountActivities, name?: string) => ({
    ...shared,
    taskQueue: accountQueue(batchQueue(taskQueue), name),
    activities,
    ...rateOf(perSecond && perSecond * batchShare),
  });
  const creations = await Promise.allSettled([
    Worker.create({ ...ofBatches(accounts[0]), ...(workflowBundle && { workflowBundle }) }),
    ...accounts.flatMap((account) => {
      const { activities, name, perSecond } = account;
      if (name === undefined) return [];
      const own = { ...shared, taskQueue: accountQueue(taskQueue, name), activities };
      return [
        Worker.create({ ...own, ...rateOf(perSecond) }),
        Worker.create(ofBatches(account, name)),
      ];
    }),
  ]);
  return {
    companions: creations.flatMap((creation) =>
      creation.status === "fulfilled" ? [creation.value] : [],
    ),
    failure: creations.find((creation) => creation.status === "rejected"),
  };
};

/** A worker, and how it is run. */
export interface Member {
  readonly worker: Worker;
  readonly run: () => Promise<void>;
}

/** How soon it is seen that one drains: the SDK has no event for it. */
const LOOK_EVERY_MS = 100;

const isToRun = ({ worker }: Member): boolean =>
  ["INITIALIZED", "RUNNING"].includes(worker.getState());

/**
 * Runs workers together until all have drained. If one fails or drains, by a signal or by `shutdown`, then the others
 * drain: a process that polls only some of the queues would look alive and do half.
 *
 * @param draining is aborted as soon as one drains; they drain at once if it is aborted already.
 * @throws the error of the one that failed first.
 */
export const runTogether = async (
  members: ReadonlyArray<Member>,
  draining: AbortController,
): Promise<void> => {
  const drain = () => {
    draining.abort();
    for (const { worker } of members) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  const look = setInterval(() => {
    if (draining.signal.aborted || !members.every(isToRun)) drain();
  }, LOOK_EVERY_MS);
  const failures: Array<unknown> = [];
  const running = members.map(({ run }) =>
    run()
      .catch((error: unknown) => failures.push(error))
      .finally(drain),
  );
  if (draining.signal.aborted) drain();
  await Promise.all(running);
  clearInterval(look);
  if (failures.length > 0) throw failures[0];
};
