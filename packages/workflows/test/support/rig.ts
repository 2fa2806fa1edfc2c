import { type PaymentsActivities, workerQueues } from "@durable-payments/activities";
import {
  createLocalEnvironment,
  createTimeSkippingEnvironment,
} from "@durable-payments/tools/testing";
import { Context } from "@temporalio/activity";
import type {
  Workflow,
  WorkflowHandleWithFirstExecutionRunId,
  WorkflowStartOptions,
} from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { inject } from "vitest";

/** A Temporal server and a worker of the workflows: one of each per test file. */
export interface Rig {
  readonly environment: TestWorkflowEnvironment;
  readonly queue: Queue;
  /** What the worker runs for the test that is running. */
  activities: Partial<PaymentsActivities>;
  readonly end: () => Promise<void>;
}

/** The task queue that the worker polls. */
export interface Queue {
  readonly taskQueue: string;
  /** Starts a workflow by name; its id is new where none is given. */
  readonly start: <W extends Workflow>(
    workflow: W,
    args: Parameters<W>,
    workflowId?: string,
  ) => Promise<WorkflowHandleWithFirstExecutionRunId<W>>;
}

/** A server that skips waiting times. */
export const timeSkippingRig = async (): Promise<Rig> =>
  startRig(await createTimeSkippingEnvironment());

/**
 * A real server, which lists workflows and keeps real time.
 *
 * @param code of the workflows; by default what the tests have bundled.
 */
export const localRig = async (
  options?: Parameters<typeof createLocalEnvironment>[0],
  code?: string,
): Promise<Rig> => startRig(await createLocalEnvironment(options), code);

const startRig = async (environment: TestWorkflowEnvironment, code?: string): Promise<Rig> => {
  const taskQueue = `test-${randomUUID()}`;
  const common = {
    connection: environment.nativeConnection,
    namespace: environment.namespace ?? "default",
    activities: { default: (...input: [never]) => activityOf(rig)(...input) },
  };
  // Tests have no rates: on a clock that skips, seconds are not those of the server's limiter.
  const { activityQueues, workflowQueues } = workerQueues(taskQueue);
  const workflowBundle = { code: code ?? readFileSync(inject("workflowBundle"), "utf8") };
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
  const start: Queue["start"] = (workflow, args, workflowId = randomUUID()) => {
    // The SDK's type wants `args` only where there are parameters; an empty list says the same.
    const options = { args, taskQueue, workflowId } as unknown as WorkflowStartOptions<
      typeof workflow
    >;
    return environment.client.workflow.start(workflow, options);
  };
  const rig: Rig = {
    environment,
    queue: { taskQueue, start },
    activities: {},
    end: async () => {
      for (const worker of workers) worker.shutdown();
      await running;
      await environment.teardown();
    },
  };
  return rig;
};

const activityOf = ({ activities }: Rig): ((input: never) => Promise<unknown>) => {
  const { activityType } = Context.current().info;
  // Looked up by the name that the workflow calls; what it gives fits that activity.
  const activity = activities[activityType as keyof PaymentsActivities];
  if (activity !== undefined) return activity;
  throw ApplicationFailure.nonRetryable(`This test does not expect ${activityType}.`, "Unexpected");
};

/** Runs `use` while the worker has these activities. */
export const withWorker = async <A>(
  rig: Rig,
  activities: Partial<PaymentsActivities>,
  use: (queue: Queue) => Promise<A>,
): Promise<A> => {
  rig.activities = activities;
  try {
    return await use(rig.queue);
  } finally {
    rig.activities = {};
  }
};
