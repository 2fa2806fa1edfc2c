import { readChunk } from "@durable-payments/activities/batch-chunks";
import { type BatchRow, chunkId } from "@durable-payments/protocol";
import type { Temporal } from "../connection/temporal.ts";
import { describeRun } from "../runs/state.ts";
import { memoOf } from "./report.ts";

/** Read the rows of a batch, chunk by chunk, as they are kept in Temporal. */
export async function* rowsOfBatch(
  temporal: Temporal,
  batch: string,
): AsyncGenerator<ReadonlyArray<BatchRow>> {
  const { chunks } = memoOf(await describeRun(temporal, batch));
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    yield await readChunk(temporal.client, chunkId(batch, chunk));
  }
}
