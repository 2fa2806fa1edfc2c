import { type BatchRow, chunkId, WORKFLOW } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { isExecutionMissing } from "./missing-execution.ts";
import { decodePayloads } from "./readable-payloads.ts";

/**
 * Read the rows of a chunk: what the workflow that keeps it was started with.
 *
 * @throws ChunkMissing, which no retry mends, when the chunk was deleted, or something else has its id
 */
export const readChunk = async (client: Client, id: string): Promise<ReadonlyArray<BatchRow>> => {
  const gone = (): ApplicationFailure =>
    ApplicationFailure.nonRetryable(
      `The rows of ${id} are gone: import the file once more; what it has paid is not paid again.`,
      "ChunkMissing",
    );
  const { events } = await client.workflow
    .getHandle(id)
    .fetchHistory()
    .catch((error: unknown) => {
      if (!isExecutionMissing(error)) throw error;
      throw gone();
    });
  const { input, workflowType } = events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  // Whatever else has its id holds no rows.
  if (workflowType?.name !== WORKFLOW.payoutBatchChunk) throw gone();
  const [rows] = await decodePayloads(client, input);
  // The starter wrote them, with the id of this chunk.
  return rows as ReadonlyArray<BatchRow>;
};

/**
 * Read the rows of a batch, chunk by chunk.
 *
 * @param chunks how many it has.
 */
export async function* readChunks(
  client: Client,
  batch: string,
  chunks: number,
): AsyncGenerator<ReadonlyArray<BatchRow>> {
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    yield await readChunk(client, chunkId(batch, chunk));
  }
}
