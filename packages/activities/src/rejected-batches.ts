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
import { refuseUnreadable } from "./readable-payloads.ts";

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
      chunks: Number(refuseUnreadable(memo?.["chunks"]) ?? 0),
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

/** Give what makes two rows the same payment: the same key, and the same content. */
export const rowIdentity = ({ fingerprint, workflowId }: BatchRow): string =>
  `${workflowId}\n${fingerprint}`;

/** How long an answer holds before it is asked for again. */
const HOLDS_FOR_MS = 5_000;

/**
 * The rows of batches that people have rejected while this one was under way: another file may hold
 * the same row, and was imported before. Those rejected before are found by the import.
 */
export class RejectedRows {
  readonly #client: Client;
  readonly #batch: string;
  readonly #since: Date;
  readonly #overruled: ReadonlySet<string>;
  readonly #rows = new Set<string>();
  readonly #read = new Set<string>();
  #askedAt = -Infinity;

  /**
   * @param run its workflow id, when it began, in milliseconds since 1970, and the run ids of rejected
   *   batches whose rejection somebody has overruled for it.
   */
  constructor(
    client: Client,
    {
      batch,
      overruled,
      since,
    }: {
      readonly batch: string;
      readonly since: number;
      readonly overruled: ReadonlyArray<string>;
    },
  ) {
    this.#client = client;
    this.#batch = batch;
    this.#since = new Date(since);
    this.#overruled = new Set(overruled);
  }

  /** Read what has been rejected by now, unless it has just done so. */
  async refresh(): Promise<void> {
    const now = performance.now();
    if (now - this.#askedAt < HOLDS_FOR_MS) return;
    for await (const run of failedBatches(this.#client, this.#since)) {
      const { runId, workflowId } = run;
      // The rejection of this very batch was overruled by who has it retried.
      if (workflowId === this.#batch || this.#overruled.has(runId)) continue;
      if (this.#read.has(runId)) continue;
      const rejected = await readRejection(this.#client, run);
      if (rejected !== undefined) {
        for await (const row of rowsOfRejected(this.#client, rejected)) {
          this.#rows.add(rowIdentity(row));
        }
      }
      this.#read.add(runId);
    }
    this.#askedAt = now;
  }

  has(row: BatchRow): boolean {
    return this.#rows.has(rowIdentity(row));
  }
}
