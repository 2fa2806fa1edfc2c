import { type QueueRates, workerQueues } from "@durable-payments/activities";
import { Worker, type WorkerOptions } from "@temporalio/worker";

/** What the workers of a process share, and what the first alone has. */
export interface QueuesOptions {
  readonly taskQueue: string;
  readonly rates: QueueRates;
  readonly shared: Omit<WorkerOptions, "taskQueue">;
  readonly workflows: Pick<WorkerOptions, "workflowBundle">;
}

/**
 * Workflow tasks that a process takes at a time. What it has taken it does in no order: fewer, and
 * what a person starts waits less behind a bulk run. One thread does the work of a few.
 */
const WORKFLOW_TASKS = 10;

/** Creates the workers of a process: one for each task queue, on one connection. */
export const createWorkers = ({
  rates,
  shared,
  taskQueue,
  workflows,
}: QueuesOptions): Promise<ReadonlyArray<Worker>> => {
  const { activityQueues, base } = workerQueues(taskQueue, rates);
  return Promise.all([
    Worker.create({
      ...shared,
      ...base,
      ...workflows,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    }),
    ...activityQueues.map((queue) => Worker.create({ ...shared, ...queue })),
  ]);
};

/**
 * Runs workers until all have drained. A signal ends them all; where one fails the others are told
 * to drain, since a process that polls only some of the queues would look alive and do half.
 */
export const runWorkers = async (workers: ReadonlyArray<Worker>): Promise<void> => {
  const stop = () => {
    for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  const endings = await Promise.allSettled(
    workers.map((worker) =>
      worker.run().catch((error: unknown) => {
        stop();
        throw error;
      }),
    ),
  );
  const failed = endings.find((ending) => ending.status === "rejected");
  if (failed !== undefined) throw failed.reason;
};
