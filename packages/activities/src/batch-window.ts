import {
  PAYMENT_BATCH,
  PAYMENT_STAGE,
  queryText,
  queryTexts,
  stagesWithoutSlot,
} from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";

/** A run that was started is found by then. */
const FOUND_WITHIN_MS = 30_000;

/** Write the visibility query of the runs of a batch. */
export const ofBatch = (batch: string): string => `${PAYMENT_BATCH.name} = ${queryText(batch)}`;

/**
 * How many more runs of a batch may be started. A slot belongs to a run only as long as Temporal
 * finds it sending: one that fails, asks, waits or is terminated gives it back by that alone.
 */
export class BatchWindow {
  readonly #client: Client;
  readonly #batch: string;
  readonly #size: number;
  /** Runs that were started and are not to be found any more, since they were deleted. */
  #missing = 0;

  constructor(client: Client, batch: string, size: number) {
    this.#client = client;
    this.#batch = batch;
    this.#size = size;
  }

  /**
   * @param started runs that were started so far
   * @param quietMs how long ago the latest of them was
   */
  async room(started: number, quietMs: number): Promise<number> {
    // All before those that send: a run that appears between the two is counted twice, not missed.
    const found = await this.#count(ofBatch(this.#batch));
    const sending = await this.#count(
      `${ofBatch(this.#batch)} AND ExecutionStatus = "Running" AND ${PAYMENT_STAGE.name} NOT IN ${queryTexts(stagesWithoutSlot)}`,
    );
    if (quietMs > FOUND_WITHIN_MS) this.#missing = Math.max(0, started - found);
    const notFoundYet = Math.max(0, started - found - this.#missing);
    return Math.max(0, this.#size - sending - notFoundYet);
  }

  async #count(query: string): Promise<number> {
    return (await this.#client.workflow.count(query)).count;
  }
}
