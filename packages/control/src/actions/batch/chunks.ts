/*
 * Rows of a batch in chunks, each the input of one workflow. Files and repairs share this: Temporal refuses an input that is
 * too large, and an id for each chunk makes an interrupted start safe to repeat.
 */
import { atOnce, batchQueue, WORKFLOW, type Workflows } from "@durable-payments/protocol";
import { chunkId, MOST_ROWS_OF_CHUNK, type PayoutChunk } from "@durable-payments/protocol/calls";
import type { Connected } from "../../facts/connection/connections.ts";
import { changing } from "../../facts/connection/temporal-errors.ts";

/** Most started rows of a batch at a time that neither wait nor have ended. */
export const DEFAULT_WINDOW = 200;

/** Temporal refuses payloads of 2 MB. */
const MOST_BYTES = 900_000;

/**
 * Divides rows into chunks that Temporal takes as one input.
 *
 * @param bytesOf the size of a row as it is sent.
 */
export const inChunks = <Row>(
  rows: ReadonlyArray<Row>,
  bytesOf: (row: Row) => number,
): ReadonlyArray<ReadonlyArray<Row>> => {
  const chunks: Array<Array<Row>> = [];
  let bytes = 0;
  for (const row of rows) {
    const size = bytesOf(row);
    const last = chunks.at(-1);
    if (last === undefined || last.length === MOST_ROWS_OF_CHUNK || bytes + size > MOST_BYTES) {
      chunks.push([row]);
      bytes = size;
    } else {
      last.push(row);
      bytes += size;
    }
  }
  return chunks;
};

/**
 * Starts the workflows of a batch, each with a chunk of its rows. An open one continues.
 *
 * @param mayBe what may have happened if Temporal does not answer, in words for a person.
 * @throws ConnectionFailed with `carriedOut: "unknown"` if Temporal does not answer.
 */
export const startChunks = async (
  connected: Connected,
  id: string,
  mayBe: string,
  chunks: ReadonlyArray<PayoutChunk>,
): Promise<void> => {
  const { client, taskQueue } = connected;
  await atOnce([...chunks.entries()], ([at, chunk]) =>
    changing(connected, id, mayBe, () =>
      client.workflow.start<Workflows["payoutBatch"]>(WORKFLOW.payoutBatch, {
        workflowId: chunkId(id, at + 1),
        taskQueue: batchQueue(taskQueue),
        args: [chunk],
        // An ended workflow may be started again: the ledger knows the started rows.
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "USE_EXISTING",
        staticSummary: `${chunk.rows.length} rows of ${id}`,
      }),
    ),
  );
};
