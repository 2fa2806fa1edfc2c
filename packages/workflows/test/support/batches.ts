import type { BatchRow, PayoutBatchInput } from "@durable-payments/protocol";
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
      fingerprint: JSON.stringify(payout),
      currency: payout.currency,
      summary: `Pay ${payout.amount}`,
      input: { ...payoutInput, payout },
    };
  });

/** Writes the chunks of a batch as the starter does, and starts it. */
export const startBatch = async (
  { environment, queue }: Rig,
  rows: ReadonlyArray<BatchRow>,
  {
    input = {},
    chunkSize = 10,
    workflowId = `payouts/${randomUUID()}`,
  }: {
    readonly input?: Partial<PayoutBatchInput>;
    readonly chunkSize?: number;
    readonly workflowId?: string;
  } = {},
) => {
  const { client } = environment;
  const chunks = Math.ceil(rows.length / chunkSize);
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    await client.workflow.start(payoutBatchChunk, {
      workflowId: `${workflowId}/chunk/${chunk}`,
      taskQueue: queue.taskQueue,
      args: [rows.slice((chunk - 1) * chunkSize, chunk * chunkSize)],
      startDelay: "365 days",
    });
  }
  return await client.workflow.start(payoutBatch, {
    workflowId,
    taskQueue: queue.taskQueue,
    args: [{ chunks, rows: rows.length, totals: {}, ...input }],
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
      { timeout: 30_000, interval: 20 },
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
