import { type BatchRow, chunkId, isNotFound } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";

/**
 * Read the rows of a chunk: what the workflow that keeps it was started with.
 *
 * @throws ChunkMissing, which no retry mends, when the chunk was deleted
 */
export const readChunk = async (
  { options, workflow }: Client,
  id: string,
): Promise<ReadonlyArray<BatchRow>> => {
  const { events } = await workflow
    .getHandle(id)
    .fetchHistory()
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw ApplicationFailure.nonRetryable(
        `The rows of ${id} are gone: import the file once more; what it has paid is not paid again.`,
        "ChunkMissing",
      );
    });
  const { payloads } = events?.[0]?.workflowExecutionStartedEventAttributes?.input ?? {};
  const [rows] = await decodeArrayFromPayloads(options.loadedDataConverter, payloads);
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
