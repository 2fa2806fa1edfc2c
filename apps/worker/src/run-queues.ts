import { type QueueRates, workerQueues } from "@durable-payments/activities";
import { Worker, type WorkerOptions } from "@temporalio/worker";

/** What the workers of a process share, and what those with workflows have beside. */
export interface QueuesOptions {
  readonly taskQueue: string;
  readonly rates: QueueRates;
  readonly shared: Omit<WorkerOptions, "taskQueue">;
  readonly workflows: Pick<WorkerOptions, "workflowBundle">;
}

/** Creates the workers of a process: one for each task queue, on one connection. */
export const createWorkers = ({
  rates,
  shared,
  taskQueue,
  workflows,
}: QueuesOptions): Promise<ReadonlyArray<Worker>> => {
  const { activityQueues, workflowQueues } = workerQueues(taskQueue, rates);
  return Promise.all([
    ...workflowQueues.map((queue) => Worker.create({ ...shared, ...queue, ...workflows })),
    ...activityQueues.map((queue) => Worker.create({ ...shared, ...queue })),
  ]);
};

/**
 * Runs workers until all have drained. A signal ends them all; where one fails the others
 * drain, since a process that polls only some of the queues would look alive and do half.
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
