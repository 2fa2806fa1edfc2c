import { Context } from "@temporalio/activity";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { ApplicationFailure, defaultPayloadConverter } from "@temporalio/common";
import { orderIdOf, type RetryOrder } from "./retry-order.ts";

/** What a run that was reset finds out about its reset. */
export interface ReadReset {
  /** The run that asked: a reset of it copies this answer, and has to ask anew. */
  readonly runId: string;
  /** The newest order by which it was retried; null where there was none. */
  readonly order: RetryOrder | null;
  /** Whether it was reset by another means since, so that the order does not tell what was sent. */
  readonly isOutdated: boolean;
}

/** Activities of runs that were reset. */
export interface RetryActivities {
  /** Reads why this run was reset, and the order that was placed for it before. */
  readonly readRetryOrder: () => Promise<ReadReset>;
}

interface Execution {
  readonly workflowId: string;
  readonly runId?: string;
}

const PAGE = 50;

/** The reasons of the resets in a run's history, the latest first: each is an event of the run it made. */
async function* resetReasons(client: Client, execution: Execution): AsyncGenerator<string> {
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: PAGE,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const { workflowTaskFailedEventAttributes: failed } of page.history?.events ?? []) {
      if (failed?.newRunId) yield failed.failure?.message ?? "";
    }
    ({ nextPageToken } = page);
  } while (nextPageToken?.length);
}

/** gRPC's code. */
const NOT_FOUND = 5;

const readOrder = async (client: Client, orderId: string): Promise<RetryOrder> => {
  try {
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: orderId },
      maximumPageSize: 1,
    });
    const [order] =
      history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    if (order) return defaultPayloadConverter.fromPayload<RetryOrder>(order);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === NOT_FOUND)) throw error;
  }
  throw ApplicationFailure.nonRetryable(
    `The order ${orderId} by which this run was to be retried is gone: retry it again.`,
    "RetryOrderGone",
  );
};

/** It has been read: what is read again, after a lost workflow task, is its history. */
const closeOrder = async (client: Client, orderId: string): Promise<void> => {
  try {
    await client.workflow.getHandle(orderId).terminate("The run has taken it up.");
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};

/** The activities of runs that were reset. */
export const makeRetryActivities = (): RetryActivities => ({
  readRetryOrder: async () => {
    const { client, info } = Context.current();
    const { runId, workflowId } = info.workflowExecution ?? { runId: "", workflowId: "" };
    let isOutdated = false;
    for await (const reason of resetReasons(client, { workflowId, runId })) {
      const orderId = orderIdOf(reason);
      if (orderId !== undefined) {
        const order = await readOrder(client, orderId);
        await closeOrder(client, orderId);
        return { runId, order, isOutdated };
      }
      isOutdated = true;
    }
    return { runId, order: null, isOutdated };
  },
});
