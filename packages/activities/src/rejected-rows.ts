import type { BatchRow } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { failedBatches, readRejection, rowIdentity, rowsOfRejected } from "./rejected-batches.ts";

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
