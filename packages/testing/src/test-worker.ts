import {
  type ActivitiesOptions,
  makePaymentsActivities,
  workerQueues,
} from "@durable-payments/activities";
import { type ClientSettings, PaymentsClient } from "@durable-payments/api-core";
import { type NativeConnection, Worker, type WorkflowBundle } from "@temporalio/worker";
import { ManagedRuntime } from "effect";

/** What the workers of a test need, however often they are started. */
export interface TestWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly workflowBundle: WorkflowBundle;
  /** Activities of the user's own. */
  readonly activities: object;
  readonly account: ClientSettings;
  /** What the activities of payments take: the journal, limits, operations of the user's own. */
  readonly payments: ActivitiesOptions;
  /** Keeps no run in memory: a server that skips waiting has no way to learn that a worker is gone. */
  readonly keepsRuns: boolean;
}

/** The workers of a test, which run as one process's would. */
export interface TestWorker {
  /** Ends them at once: what they have begun is given up, and what they knew is gone. */
  readonly kill: () => Promise<void>;
}

/**
 * Start the workers of all task queues. They are made of what `PaymentsPlugin` is made of, and not by it: that keeps
 * a tracker running, whose activity would forbid a server to skip, and reads the variables `PAYMENTS_*` of whoever tests.
 *
 * @returns when they poll.
 */
export const startTestWorker = async ({
  account,
  activities,
  connection,
  keepsRuns,
  namespace,
  payments,
  taskQueue,
  workflowBundle,
}: TestWorkerOptions): Promise<TestWorker> => {
  const runtime = ManagedRuntime.make(PaymentsClient.layer(account));
  const common = {
    connection,
    namespace,
    activities: { ...activities, ...makePaymentsActivities(runtime, payments) },
    shutdownGraceTime: 0,
    shutdownForceTime: "5 seconds",
    ...(!keepsRuns && { maxCachedWorkflows: 0 }),
  } as const;
  // Tests have no rates: on a clock that skips, seconds are not those of a limiter.
  const { activityQueues, workflowQueues } = workerQueues(taskQueue);
  const workers = await Promise.all([
    ...workflowQueues.map((queue) =>
      Worker.create({
        ...common,
        taskQueue: queue.taskQueue,
        workflowBundle,
        workflowThreadPoolSize: 1,
      }),
    ),
    ...activityQueues.map((queue) => Worker.create({ ...common, taskQueue: queue.taskQueue })),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));
  // It is told by `kill`, and by the run that waits.
  running.catch(() => undefined);
  return {
    kill: async () => {
      for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
      try {
        await running;
      } finally {
        await runtime.dispose();
      }
    },
  };
};
