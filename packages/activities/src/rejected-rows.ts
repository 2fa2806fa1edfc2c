import { type BatchRow, chunkId, queryText, WORKFLOW } from "@durable-payments/protocol";
import { type Client, WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { readChunk } from "./batch-chunks.ts";

/** How long an answer holds before it is asked for again. */
const HOLDS_FOR_MS = 5_000;

const identityOf = ({ fingerprint, workflowId }: BatchRow): string =>
  `${workflowId}\n${fingerprint}`;

/**
 * The rows of batches that people have rejected while this one was under way: another file may hold
 * the same row, and was imported before. Those rejected before are looked for by the import.
 */
export class RejectedRows {
  readonly #client: Client;
  readonly #batch: string;
  readonly #query: string;
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
    this.#query = `WorkflowType = ${queryText(WORKFLOW.payoutBatch)} AND ExecutionStatus = "Failed" AND CloseTime >= "${new Date(since).toISOString()}"`;
    this.#overruled = new Set(overruled);
  }

  /** Looks what has been rejected by now, unless it has just done so. */
  async refresh(): Promise<void> {
    const now = performance.now();
    if (now - this.#askedAt < HOLDS_FOR_MS) return;
    for await (const run of this.#client.workflow.list({ query: this.#query })) {
      const { memo, runId, workflowId } = run;
      // That of its own id was overruled by who has it retried.
      if (workflowId === this.#batch || this.#overruled.has(runId)) continue;
      if (this.#read.has(runId)) continue;
      if (await this.#isRejected(workflowId, runId)) {
        for (let chunk = 1; chunk <= Number(memo?.["chunks"] ?? 0); chunk += 1) {
          await this.#addChunk(chunkId(workflowId, chunk));
        }
      }
      this.#read.add(runId);
    }
    this.#askedAt = now;
  }

  has(row: BatchRow): boolean {
    return this.#rows.has(identityOf(row));
  }

  async #isRejected(workflowId: string, runId: string): Promise<boolean> {
    try {
      await this.#client.workflow.result(workflowId, runId, { followRuns: false });
      return false;
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return error.cause instanceof ApplicationFailure && error.cause.type === "Rejected";
    }
  }

  async #addChunk(id: string): Promise<void> {
    try {
      for (const row of await readChunk(this.#client, id)) this.#rows.add(identityOf(row));
    } catch (error) {
      // Temporal has deleted it, as it is about to delete its batch.
      if (!(error instanceof ApplicationFailure) || error.type !== "ChunkMissing") throw error;
    }
  }
}
