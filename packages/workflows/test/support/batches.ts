import {
  batchOfChunks,
  canonicalJson,
  contentOfPayout,
  hashOfRows,
} from "@durable-payments/activities/payout-content";
import { Totals } from "@durable-payments/activities/totals";
import { type BatchRow, chunkId, type PayoutBatchInput } from "@durable-payments/protocol";
import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import { payoutBatch, payoutBatchChunk } from "../../src/index.ts";
import { payoutInput } from "./inputs.ts";
import type { Rig } from "./rig.ts";

/** Rows of a batch, of 1.00, 2.00, …; their keys begin with a text that no other test uses. */
export const makeRows = (
  count: number,
  amountOf: (index: number) => string | undefined = () => undefined,
  prefix: string = randomUUID(),
): ReadonlyArray<BatchRow> =>
  Array.from({ length: count }, (_, index) => {
    const payout = { ...payoutInput.payout, amount: amountOf(index) ?? `${index + 1}.00` };
    const key = `${prefix}-${index}`;
    return {
      row: index + 2,
      key,
      workflowId: `payout/${key}`,
      fingerprint: contentOfPayout({ ...payoutInput, payout }),
      currency: payout.currency,
      summary: `Pay ${payout.amount}`,
      input: { ...payoutInput, payout },
    };
  });

const chunksOf = (rows: ReadonlyArray<BatchRow>, size: number) =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, index) =>
    rows.slice(index * size, (index + 1) * size),
  );

const totalsOf = (rows: ReadonlyArray<BatchRow>) => {
  const totals = new Totals();
  for (const { currency, input } of rows) totals.add(currency, input.payout.amount);
  return totals.amounts;
};

const hashesOf = (chunks: ReadonlyArray<ReadonlyArray<BatchRow>>) =>
  chunks.map((chunk) => hashOfRows(chunk.map((row) => canonicalJson(row))));

/** The id of the batch of these rows, where one chunk holds them. */
export const batchOf = (rows: ReadonlyArray<BatchRow>): string => batchOfChunks(hashesOf([rows]));

/** Writes the chunks of a batch as the starter does, and starts it. */
export const startBatch = async (
  { environment, queue }: Rig,
  rows: ReadonlyArray<BatchRow>,
  {
    input = {},
    chunkSize = 10,
    workflowId,
  }: {
    readonly input?: Partial<PayoutBatchInput>;
    readonly chunkSize?: number;
    readonly workflowId?: string;
  } = {},
) => {
  const { client } = environment;
  const chunks = chunksOf(rows, chunkSize);
  const hashes = hashesOf(chunks);
  const batch = workflowId ?? batchOfChunks(hashes);
  for (const [index, chunk] of chunks.entries()) {
    await client.workflow.start(payoutBatchChunk, {
      workflowId: chunkId(batch, index + 1),
      taskQueue: queue.taskQueue,
      args: [chunk],
      startDelay: "365 days",
      workflowIdConflictPolicy: "USE_EXISTING",
    });
  }
  return await client.workflow.start(payoutBatch, {
    workflowId: batch,
    taskQueue: queue.taskQueue,
    args: [{ chunks: chunks.length, hashes, rows: rows.length, totals: totalsOf(rows), ...input }],
    memo: { startedBy: "Ada" },
  });
};

/** Holds calls back until the test lets them go. */
export class Gate {
  readonly #held: Array<() => void> = [];
  #isOpen = false;
  /** Most calls that were held at a time. */
  most = 0;

  get held(): number {
    return this.#held.length;
  }

  async pass(): Promise<void> {
    if (this.#isOpen) return;
    await new Promise<void>((resolve) => {
      this.#held.push(resolve);
      this.most = Math.max(this.most, this.#held.length);
    });
  }

  /** Awaits that so many are held. */
  async whenHeld(count: number): Promise<void> {
    await vi.waitFor(
      () => {
        if (this.#held.length !== count) throw new Error(`${this.#held.length} are held`);
      },
      { timeout: 120_000, interval: 20 },
    );
  }

  letOneGo(): void {
    this.#held.shift()?.();
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#held.splice(0)) go();
  }
}
