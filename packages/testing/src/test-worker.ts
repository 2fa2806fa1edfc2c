import type { PaymentsSettings } from "@durable-payments/plugin";
import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import type { DataConverter } from "@temporalio/common";
import { Worker, type WorkflowBundle } from "@temporalio/worker";

/** What the worker of a test needs, however often it is started. */
export interface TestWorkerOptions {
  readonly environment: TestWorkflowEnvironment;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly workflowBundle: WorkflowBundle;
  /** Activities of the user's own. */
  readonly activities: object;
  readonly dataConverter: DataConverter | undefined;
  /** All settings of the worker: no variable of the tests' own process counts for what they leave out. */
  readonly settings: PaymentsSettings;
}

/** The worker of a test, with those of its other task queues. */
export interface TestWorker {
  /** Ends it at once: what it has begun is given up, and what it knew is gone. */
  readonly kill: () => Promise<void>;
}

/** Where worker and client of a test work: no variable of the tests' own process counts. */
export const hermetic = ({
  supportsTimeSkipping,
}: Pick<TestWorkflowEnvironment, "supportsTimeSkipping">) => ({
  environment: {},
  skipsTime: supportsTimeSkipping,
});

/**
 * Start a worker with the plugin, as its user does. On a server that skips waiting it keeps no run in memory: such a server
 * has no way to learn that a worker is gone.
 *
 * @returns when it polls all its task queues.
 * @throws CannotStart of the plugin.
 */
export const startTestWorker = async ({
  activities,
  dataConverter,
  environment: { nativeConnection: connection, supportsTimeSkipping },
  namespace,
  settings,
  taskQueue,
  workflowBundle,
}: TestWorkerOptions): Promise<TestWorker> => {
  const ready = Promise.withResolvers<void>();
  const plugin = paymentsPluginIn(hermetic({ supportsTimeSkipping }), {
    ...settings,
    onReady: () => ready.resolve(),
  });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle,
    activities,
    ...(dataConverter && { dataConverter }),
    plugins: [plugin],
    workflowThreadPoolSize: 1,
    shutdownGraceTime: 0,
    shutdownForceTime: "5 seconds",
    ...(supportsTimeSkipping && { maxCachedWorkflows: 0 }),
  });
  const running = worker.run();
  // What it fails with, `kill` throws, and the run that waits.
  running.catch(() => undefined);
  await Promise.race([ready.promise, running]);
  return {
    kill: async () => {
      if (worker.getState() === "RUNNING") worker.shutdown();
      await running;
    },
  };
};
