import type { workerQueues } from "@durable-payments/activities";
import { Worker, type WorkerOptions } from "@temporalio/worker";

/**
 * Run a worker for each task queue, as the worker app does. A worker that fails ends this process.
 *
 * @param queues those of {@link workerQueues}
 * @param shared what all workers have
 */
export const runWorkers = async (
  { activityQueues, workflowQueues }: ReturnType<typeof workerQueues>,
  {
    workflowBundle,
    ...shared
  }: Required<Pick<WorkerOptions, "activities" | "connection" | "workflowBundle">> &
    Pick<WorkerOptions, "dataConverter">,
): Promise<void> => {
  const workers = await Promise.all([
    ...workflowQueues.map((queue) => Worker.create({ ...shared, ...queue, workflowBundle })),
    ...activityQueues.map((queue) => Worker.create({ ...shared, ...queue })),
  ]);
  for (const worker of workers) {
    worker.run().catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    });
  }
};
