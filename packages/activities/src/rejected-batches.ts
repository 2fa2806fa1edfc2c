import {
  type BatchRow,
  chunkId,
  type OverruledBatch,
  queryText,
  textAt,
  WORKFLOW,
} from "@durable-payments/protocol";
import { type Client, WorkflowFailedError, type WorkflowExecutionInfo } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { readChunk } from "./batch-chunks.ts";

/** A run of a batch, as visibility or a description has it. */
export type BatchRun = Pick<
  WorkflowExecutionInfo,
  "closeTime" | "memo" | "runId" | "startTime" | "workflowId"
>;

/** A batch that a person has rejected. */
export interface RejectedBatch extends Omit<OverruledBatch, "overruled" | "what"> {
  /** How many chunks its rows are kept in. */
  readonly chunks: number;
}

/**
 * List the batches that may have been rejected: those that failed, as long as Temporal keeps them.
 *
 * @param since leaves out those that ended before.
 */
export const failedBatches = (client: Client, since?: Date): AsyncIterable<BatchRun> => {
  const failed = `WorkflowType = ${queryText(WORKFLOW.payoutBatch)} AND ExecutionStatus = "Failed"`;
  const query =
    since === undefined ? failed : `${failed} AND CloseTime >= ${queryText(since.toISOString())}`;
  return client.workflow.list({ query });
};

/** Read who has rejected a batch, and why; undefined where it failed for another reason. */
export const readRejection = async (
  client: Client,
  { closeTime, memo, runId, startTime, workflowId }: BatchRun,
): Promise<RejectedBatch | undefined> => {
  try {
    await client.workflow.result(workflowId, runId, { followRuns: false });
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    if (!(cause instanceof ApplicationFailure) || cause.type !== "Rejected") return undefined;
    const details = cause.details?.[0];
    return {
      workflowId,
      runId,
      by: textAt(details, "by") ?? "unknown",
      why: textAt(details, "why") ?? cause.message,
      at: (closeTime ?? startTime).toISOString(),
      startedBy: textAt(memo, "startedBy") ?? "unknown",
      chunks: Number(memo?.["chunks"] ?? 0),
    };
  }
};

/** Read the rows that a rejected batch held; none of a chunk that Temporal has deleted. */
export async function* rowsOfRejected(
  client: Client,
  { chunks, workflowId }: Pick<RejectedBatch, "chunks" | "workflowId">,
): AsyncGenerator<BatchRow> {
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    try {
      yield* await readChunk(client, chunkId(workflowId, chunk));
    } catch (error) {
      // Temporal is about to delete its batch, too.
      if (!(error instanceof ApplicationFailure) || error.type !== "ChunkMissing") throw error;
    }
  }
}

/** What makes two rows the same payment: the same key, and the same content. */
export const rowIdentity = ({ fingerprint, workflowId }: BatchRow): string =>
  `${workflowId}\n${fingerprint}`;
