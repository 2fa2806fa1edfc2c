import {
  isNotFound,
  instructionIdOf,
  PAYMENT_ACCOUNT,
  queryText,
  type RetryInstruction,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { ApplicationFailure, defaultPayloadConverter } from "@temporalio/common";

/** What a run that was reset finds out about its reset. */
export interface ReadReset {
  /** The run that asked: a reset of it copies this answer, and has to ask anew. */
  readonly runId: string;
  /** The newest order by which it was retried; null where there was none. */
  readonly order: RetryInstruction | null;
  /** Whether it was reset by another means since, so that the order does not tell what was sent. */
  readonly isOutdated: boolean;
  /** The account that an earlier run of this workflow id was pinned to; absent where none was. */
  readonly account?: string;
}

/** Activities of runs that were reset. */
export interface RetryActivities {
  /** Reads why this run was reset, and the order that was placed for it before. */
  readonly readRetryInstruction: () => Promise<ReadReset>;
}

interface Execution {
  readonly workflowId: string;
  readonly runId?: string;
}

const PAGE = 50;

interface Reset {
  readonly orderId: string | undefined;
  /** Seconds since 1970. */
  readonly at: number;
}

/** The resets in a run's history, the latest first: each is an event of the run that it made. */
async function* resetsOf(client: Client, execution: Execution): AsyncGenerator<Reset> {
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: PAGE,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const event of page.history?.events ?? []) {
      const { eventTime, workflowTaskFailedEventAttributes: failed } = event;
      if (!failed?.newRunId) continue;
      const orderId = instructionIdOf(failed.failure?.message ?? "");
      yield { orderId, at: Number(eventTime?.seconds ?? 0) };
    }
    ({ nextPageToken } = page);
  } while (nextPageToken?.length);
}

/**
 * What the runs of this workflow id tell: the latest order of any of them (those of its resets may be
 * behind its own), and the account that they were pinned to.
 */
const readRuns = async (
  client: Client,
  workflowId: string,
): Promise<{ readonly orderId: string | undefined; readonly account: string | undefined }> => {
  let latest: Reset | undefined;
  let account: string | undefined;
  const query = `WorkflowId = ${queryText(workflowId)}`;
  for await (const { runId, typedSearchAttributes } of client.workflow.list({ query })) {
    account = typedSearchAttributes.get(PAYMENT_ACCOUNT) ?? account;
    for await (const reset of resetsOf(client, { workflowId, runId })) {
      if (reset.orderId === undefined) continue;
      if (latest === undefined || reset.at > latest.at) latest = reset;
      break;
    }
  }
  return { orderId: latest?.orderId, account };
};

const readOrder = async (client: Client, orderId: string): Promise<RetryInstruction> => {
  try {
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: orderId },
      maximumPageSize: 1,
    });
    const [order] =
      history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    if (order) return defaultPayloadConverter.fromPayload<RetryInstruction>(order);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  throw ApplicationFailure.nonRetryable(
    `The order ${orderId} by which this run was to be retried is gone: retry it again.`,
    "RetryInstructionGone",
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

const takeOrder = async (client: Client, orderId: string): Promise<RetryInstruction> => {
  const order = await readOrder(client, orderId);
  await closeOrder(client, orderId);
  return order;
};

/** The activities of runs that were reset. */
export const makeRetryActivities = (): RetryActivities => ({
  readRetryInstruction: async () => {
    const { client, info } = Context.current();
    const { runId, workflowId } = info.workflowExecution ?? { runId: "", workflowId: "" };
    const own = await resetsOf(client, { workflowId, runId }).next();
    const ownOrderId = own.done === true ? undefined : own.value.orderId;
    if (ownOrderId !== undefined) {
      const order = await takeOrder(client, ownOrderId);
      const { account } = order;
      return { runId, order, isOutdated: false, ...(account !== undefined && { account }) };
    }
    const { account, orderId } = await readRuns(client, workflowId);
    return {
      runId,
      order: orderId === undefined ? null : await takeOrder(client, orderId),
      isOutdated: true,
      ...(account !== undefined && { account }),
    };
  },
});
