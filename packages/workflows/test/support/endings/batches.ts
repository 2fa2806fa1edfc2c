import type { ApprovalActivities, BatchActivities } from "@durable-payments/activities";
import {
  cancelBatchUpdate,
  pauseBatchUpdate,
  type PayoutBatchInput,
  resumeBatchUpdate,
} from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { payoutBatch } from "../../../src/index.ts";
import { approve, type Ending, type Stage } from "./ending.ts";

const ROWS_OF_A_PAGE = 10;

/** As if every chunk had rows that all are paid. */
const activities: ApprovalActivities & BatchActivities = {
  proveApproval: async () => [],
  proveBatch: async ({ chunks }) => chunks.map(() => "proof"),
  startPayoutRuns: async () => ({
    rows: ROWS_OF_A_PAGE,
    isWhole: true,
    started: ROWS_OF_A_PAGE,
    known: 0,
    conflicting: 0,
  }),
  countPayees: async () => ({ payees: ROWS_OF_A_PAGE, neverPaid: 1 }),
  closeChunks: async () => undefined,
  awaitPayoutRuns: async ({ started }) => ({
    completed: started,
    failed: 0,
    cancelled: 0,
    terminated: 0,
    timedOut: 0,
    unfinished: 0,
  }),
};

const input = (chunks: number): PayoutBatchInput => ({
  chunks,
  rows: chunks * ROWS_OF_A_PAGE,
  totals: { USD: `${chunks}000.00` },
});

const begin = ({ start }: Stage, chunks: number, more: Partial<PayoutBatchInput> = {}) =>
  start(payoutBatch, { ...input(chunks), ...more });

/** The first chunk waits until the test lets it go; the run is given orders meanwhile. */
const ordered = (name: string, order: (handle: WorkflowHandle) => Promise<void>): Ending => {
  let letGo: () => void = () => undefined;
  const isLetGo = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  return {
    name,
    activities: {
      ...activities,
      startPayoutRuns: async (chunk) => {
        await isLetGo;
        return activities.startPayoutRuns(chunk);
      },
    },
    run: async (stage) => {
      const handle = await begin(stage, 2);
      await order(handle);
      letGo();
      return handle;
    },
  };
};

const APPROVAL = { approval: { above: "999.99" } };

/** The endings of `payoutBatch`. */
export const batchEndings: ReadonlyArray<Ending> = [
  { name: "batch-completed", activities, run: (stage) => begin(stage, 2) },
  {
    name: "batch-continued-as-new",
    activities,
    // The recording server suggests it after few events.
    run: (stage) => begin(stage, 30),
  },
  {
    name: "batch-approved",
    activities,
    run: async (stage) => {
      const handle = await begin(stage, 1, APPROVAL);
      await approve(handle, { approve: true });
      return handle;
    },
  },
  {
    name: "batch-approved-with-its-payees",
    activities,
    run: async (stage) => {
      const handle = await begin(stage, 1, { ...APPROVAL, hashes: ["hash"] });
      await approve(handle, { approve: true });
      return handle;
    },
  },
  {
    name: "batch-approved-and-proved",
    activities,
    run: async (stage) => {
      const handle = await begin(stage, 1, { ...APPROVAL, hashes: ["hash"] });
      await approve(handle, { approve: true });
      return handle;
    },
  },
  {
    name: "batch-approved-as-its-worker-wants",
    approveAbove: { USD: "999.99" },
    activities: {
      ...activities,
      startPayoutRuns: async (chunk) => {
        if (chunk.approval !== undefined) return activities.startPayoutRuns(chunk);
        throw ApplicationFailure.nonRetryable("It is above the limit.", "NeedsApproval");
      },
    },
    run: async (stage) => {
      const handle = await begin(stage, 2, { hashes: ["hash", "hash"] });
      await approve(handle, { approve: true });
      return handle;
    },
  },
  {
    name: "batch-failed-at-awaitApproval",
    activities,
    run: async (stage) => {
      const handle = await begin(stage, 1, APPROVAL);
      await approve(handle, { reject: "not ours" });
      return handle;
    },
  },
  {
    name: "batch-failed-at-startPayouts",
    activities: {
      ...activities,
      startPayoutRuns: () => {
        throw ApplicationFailure.nonRetryable("chunk 1 is gone", "ChunkMissing");
      },
    },
    run: (stage) => begin(stage, 1),
  },
  ordered("batch-paused-and-resumed", async (handle) => {
    await handle.executeUpdate(pauseBatchUpdate, { args: [{ by: "Ada" }] });
    await handle.executeUpdate(resumeBatchUpdate, { args: [{ by: "Ada" }] });
  }),
  ordered("batch-cancelled", (handle) =>
    handle.executeUpdate(cancelBatchUpdate, { args: [{ by: "Ada", why: "a wrong file" }] }),
  ),
];
