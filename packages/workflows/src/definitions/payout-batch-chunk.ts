import type { BatchRow } from "@durable-payments/protocol";

/**
 * Keep a chunk of a batch in Temporal, as its input. It is started with a delay of a year and
 * terminated when its rows have their runs: it does nothing, takes no worker, and has two events.
 */
export async function payoutBatchChunk(_rows: ReadonlyArray<BatchRow>): Promise<void> {}
