import { baseQueue, batchQueue } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { ANSWERED_WITHIN_MS } from "./run-state.ts";

/** How the run of an activity was started, as the server has written it: no worker can write that. */
export interface RunStart {
  /** Workflow id of the run. */
  readonly workflowId: string;
  /** The first run of those that continued as new, or were reset, one after the other. */
  readonly firstRunId: string;
  /** Where the workers poll that run its code. */
  readonly taskQueue: string;
}

/** Read how the run of the current activity was started; undefined where it belongs to none. */
export type ReadRunStart = () => Promise<RunStart | undefined>;

/** Read it from the Temporal server. */
export const readTemporalRunStart: ReadRunStart = async () => {
  const { client, info } = Context.current();
  const { workflowExecution } = info;
  if (workflowExecution === undefined) return undefined;
  const { namespace } = client.options;
  const { history } = await client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: workflowExecution,
      maximumPageSize: 1,
    }),
  );
  const { firstExecutionRunId, taskQueue } =
    history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  return {
    workflowId: workflowExecution.workflowId,
    firstRunId: firstExecutionRunId ?? "",
    taskQueue: taskQueue?.name ?? "",
  };
};

/** Check whether a run's code is run by the workers of a task queue: others poll it only as a worker does. */
export const isRunOfQueue = ({ taskQueue }: RunStart, ofActivity: string): boolean => {
  const base = baseQueue(ofActivity);
  return taskQueue === base || taskQueue === batchQueue(base);
};
