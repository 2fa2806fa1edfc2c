import { makePaymentsActivities, workerQueues } from "@durable-payments/activities";
import type { AmountLimits } from "@durable-payments/activities";
import { type ClientSettings, PaymentsClient } from "@durable-payments/api-core";
import type { Journal } from "@durable-payments/journal";
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
  readonly journal: Journal;
  readonly limits: { readonly maxAmounts?: AmountLimits; readonly approveAbove?: AmountLimits };
  /** Keeps no run in memory: a server that skips waiting has no way to learn that a worker is gone. */
  readonly keepsRuns: boolean;
}

/** The workers of a test, which run as one process's would. */
export interface TestWorker {
  /** Ends them at once: what they have begun is given up, and what they knew is gone. */
  readonly kill: () => Promise<void>;
}

/**
 * Start the workers of all task queues.
 *
 * @returns when they poll.
 */
export const startTestWorker = async ({
  account,
  activities,
  connection,
  journal,
  keepsRuns,
  limits,
  namespace,
  taskQueue,
  workflowBundle,
}: TestWorkerOptions): Promise<TestWorker> => {
  const runtime = ManagedRuntime.make(PaymentsClient.layer(account));
  const payments = makePaymentsActivities(runtime, { journal, ...limits });
  const common = {
    connection,
    namespace,
    activities: { ...activities, ...payments },
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
