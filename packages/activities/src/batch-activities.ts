import {
  batchQueue,
  type BatchRow,
  chunkId,
  type HandledRows,
  PAYMENT_BATCH,
  PAYMENT_STAGE,
  paymentMemoOf,
  type PayoutInput,
  type RunEndings,
  UNFINISHED,
  WORKFLOW,
  runDetails,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from "@temporalio/client";
import { setTimeout as sleep } from "node:timers/promises";
import { readChunk } from "./batch-chunks.ts";
import { type ChunkFingerprint, checkedRows, sumOf } from "./check-chunk.ts";
import { BatchWindow, ofBatch } from "./batch-window.ts";
import type { Approvals } from "./approvals.ts";
import { needsApproval, notYet } from "./failures.ts";
import type { CountedPayees, PayeeMarks, Payees } from "./payees.ts";
import { requestsOfPayout } from "./planned-requests.ts";
import { RejectedRows } from "./rejected-batches.ts";
import { isRunOfRow } from "./row-run.ts";
import { payoutStartAttributes } from "./start-attributes.ts";

/** A chunk of a batch whose rows are to be started. */
export interface ChunkToStart extends ChunkFingerprint {
  /** Rows of the chunk that need not be started again. */
  readonly skip: number;
  /** Runs of this batch that were started before. */
  readonly started: number;
  /** Most runs that send at a time. */
  readonly window: number;
  /** Who started the batch, as its runs record it. */
  readonly startedBy: string;
  /** When the batch began, in milliseconds since 1970. */
  readonly since: number;
  /** Sums by currency that were imported, and approved: its rows pay no more than that. */
  readonly totals: Readonly<Record<string, string>>;
  /** What the rows of the chunks before pay. */
  readonly paid?: Readonly<Record<string, string>>;
  /** The limit of the batch itself, above which a second person has to approve it. */
  readonly approveAbove?: string;
  /** Proof that a second person has approved the rows of this chunk, in this batch. */
  readonly approval?: string;
  /** For each row the mark of whom it pays, as it was approved; empty for a new beneficiary. */
  readonly payees?: ReadonlyArray<string>;
  /** Run ids of rejected batches whose rejection somebody has overruled for this one. */
  readonly overruled: ReadonlyArray<string>;
}

/** A batch that a second person has to approve. */
interface BatchToApprove {
  readonly batch: string;
  /** Hashes of its chunks. */
  readonly hashes: ReadonlyArray<string>;
  readonly totals: Readonly<Record<string, string>>;
}

/** What batches need of a worker, beside Temporal. */
interface BatchParts {
  /** The account that the payouts are paid from: its name, where it has one, and its hash. */
  readonly account: { readonly name: string | undefined; readonly hash: () => Promise<string> };
  readonly approvals: Approvals;
  readonly payees: Payees;
}

/** What became of the rows of a chunk; counts of rows. */
export interface StartedRows extends HandledRows {
  /** Rows that were handled, from the first on. */
  readonly rows: number;
  /** Whether these are all. */
  readonly isWhole: boolean;
  /** What these rows and those of the chunks before pay, by currency; with all rows of the chunk only. */
  readonly paid?: Readonly<Record<string, string>>;
}

/** What a batch does. They call Temporal only, and so belong on the workflow's task queue. */
export interface BatchActivities {
  /** Starts the runs of a chunk, a window of them at a time; ends early when it is cancelled. */
  readonly startPayoutRuns: (chunk: ChunkToStart) => Promise<StartedRows>;
  /** Reads all rows of a batch that waits for an approval, checks them, and counts whom they pay. */
  readonly countPayees: (batch: BatchToApprove) => Promise<CountedPayees>;
  /** Closes chunks whose rows are not to be started. */
  readonly closeChunks: (chunks: {
    readonly batch: string;
    readonly from: number;
    readonly to: number;
  }) => Promise<void>;
  /** Ends when no run of the batch is open. */
  readonly awaitPayoutRuns: (runs: {
    readonly batch: string;
    readonly started: number;
  }) => Promise<RunEndings>;
}

const STARTED_AT_ONCE = 10;
const COUNT_EVERY_MS = 500;
const HEARTBEAT_EVERY_MS = 3_000;

const closeChunk = async (id: string, why: string): Promise<void> => {
  try {
    await Context.current().client.workflow.getHandle(id).terminate(why);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};

type Outcome = "started" | "known" | "conflicting" | "rejected";

/** What the run is that has the row's id. */
const compare = async (row: BatchRow, batch: string): Promise<Outcome> => {
  const { client } = Context.current();
  const run = await client.workflow.getHandle(row.workflowId).describe();
  if (!(await isRunOfRow(client, row, run))) return "conflicting";
  return run.typedSearchAttributes.get(PAYMENT_BATCH) === batch ? "started" : "known";
};

/** Starts the run of a row, unless its id has a run: an attempt before this one's, or another file's. */
const startRow = async (
  row: BatchRow,
  { batch, startedBy }: ChunkToStart,
  {
    account,
    approvals,
    isApproved,
    payee,
  }: {
    readonly account: string;
    readonly approvals: Approvals;
    /** Whether that is proved of its chunk. */
    readonly isApproved: boolean;
    /** Mark of whom it pays, as it was approved. */
    readonly payee: string | undefined;
  },
): Promise<Outcome> => {
  const { client, info } = Context.current();
  const requests = requestsOfPayout(row.input);
  const { amount } = row.input.payout;
  // A second person has approved the row with its batch, and whom it pays.
  const isOfKnown = "beneficiary" in row.input || payee !== undefined;
  const isProved = isApproved && isOfKnown && approvals.why({ amount, currency: row.currency });
  const approval = isProved ? await approvals.proofOf(row.workflowId, requests, payee) : undefined;
  try {
    await client.workflow.start(WORKFLOW.payout, {
      workflowId: row.workflowId,
      taskQueue: batchQueue(info.taskQueue),
      args: [row.input],
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      workflowIdConflictPolicy: "FAIL",
      memo: {
        startedBy,
        fingerprint: row.fingerprint,
        row: row.row,
        payment: paymentMemoOf(WORKFLOW.payout, row.input),
        ...(approval !== undefined && { approval }),
      },
      staticSummary: row.summary,
      staticDetails: runDetails(row.workflowId),
      typedSearchAttributes: [
        ...payoutStartAttributes(row.workflowId, row.input, account),
        { key: PAYMENT_BATCH, value: batch },
      ],
    });
    return "started";
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return await compare(row, batch);
  }
};

const withRejected = (rejected: number) => (rejected > 0 ? { rejected } : {});

/**
 * Check that a second person has approved what is above a limit, and whatever was rejected before.
 *
 * @returns whether that is proved, of every row of the chunk.
 * @throws NeedsApproval, before any row is started.
 */
const checkApproved = async (
  { approval, approveAbove, batch, chunk, hash, overruled, payees = [], totals }: ChunkToStart,
  approvals: Approvals,
): Promise<boolean> => {
  if (await approvals.isChunkApproved(approval, { chunk, hash, payees, overruled })) return true;
  for (const [currency, amount] of Object.entries(totals)) {
    const own = overruled.length > 0 ? "0" : approveAbove;
    const why = approvals.why({ amount, currency }, own);
    if (why !== undefined) throw needsApproval(batch, `${amount} ${currency}, ${why}`);
  }
  return false;
};

const startPayoutRuns = async (chunk: ChunkToStart, parts: BatchParts): Promise<StartedRows> => {
  const { cancellationSignal, client, heartbeat, info } = Context.current();
  const id = chunkId(chunk.batch, chunk.chunk);
  const { approvals } = parts;
  const isApproved = await checkApproved(chunk, approvals);
  const account = await parts.account.hash();
  const rows = checkedRows(await readChunk(client, id), { ...chunk, account: parts.account.name });
  const paid = sumOf(rows, chunk);
  const payees = new Map(rows.map((row, index) => [row, chunk.payees?.[index] || undefined]));
  // Where the attempt before stopped: the rows since then are handled again, and not paid again.
  const before = info.heartbeatDetails as Omit<StartedRows, "isWhole"> | undefined;
  let done: Omit<StartedRows, "isWhole"> = before ?? {
    rows: chunk.skip,
    started: 0,
    known: 0,
    conflicting: 0,
  };
  const window = new BatchWindow(client, chunk.batch, chunk.window);
  const rejected = new RejectedRows(client, chunk);
  let latest = Date.now();
  let room = 0;
  const heart = setInterval(() => heartbeat(done), HEARTBEAT_EVERY_MS);
  try {
    while (done.rows < rows.length && !cancellationSignal.aborted) {
      if (room === 0) {
        room = await window.room(chunk.started + done.started, Date.now() - latest);
        if (room === 0)
          await sleep(COUNT_EVERY_MS, undefined, { signal: cancellationSignal }).catch(
            () => undefined,
          );
        continue;
      }
      const next = rows.slice(done.rows, done.rows + Math.min(room, STARTED_AT_ONCE));
      await rejected.refresh();
      const outcomes = await Promise.all(
        next.map(async (row): Promise<Outcome> =>
          rejected.has(row)
            ? "rejected"
            : await startRow(row, chunk, {
                account,
                approvals,
                isApproved,
                payee: payees.get(row),
              }),
        ),
      );
      const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length;
      done = {
        rows: done.rows + next.length,
        started: done.started + count("started"),
        known: done.known + count("known"),
        conflicting: done.conflicting + count("conflicting"),
        ...withRejected((done.rejected ?? 0) + count("rejected")),
      };
      room -= count("started");
      if (count("started") > 0) latest = Date.now();
      heartbeat(done);
    }
  } finally {
    clearInterval(heart);
  }
  const isWhole = done.rows === rows.length;
  if (isWhole) await closeChunk(id, "Each row of this chunk has its run.");
  return { ...done, isWhole, ...(isWhole && { paid }) };
};

const LONGEST_PAUSE_MS = 60_000;
const FOUND_WITHIN_MS = 30_000;

const awaitPayoutRuns: BatchActivities["awaitPayoutRuns"] = async ({ batch, started }) => {
  const { client, info } = Context.current();
  const { count: found, groups } = await client.workflow.count(
    `${ofBatch(batch)} GROUP BY ExecutionStatus`,
  );
  const counted = new Map(groups.map(({ count, groupValues }) => [String(groupValues[0]), count]));
  const open = counted.get("Running") ?? 0;
  const waited = Date.now() - info.scheduledTimestampMs;
  const isComplete = found >= started || waited > FOUND_WITHIN_MS;
  if (open > 0 || !isComplete) {
    const delay = Math.min(LONGEST_PAUSE_MS, Math.max(1_000, waited / 10));
    throw notYet(`${open} runs are open.`, Math.round(delay));
  }
  const { count: unfinished } = await client.workflow.count(
    `${ofBatch(batch)} AND ExecutionStatus = "Completed" AND ${PAYMENT_STAGE.name} = "${UNFINISHED}"`,
  );
  return {
    completed: (counted.get("Completed") ?? 0) - unfinished,
    unfinished,
    failed: counted.get("Failed") ?? 0,
    cancelled: counted.get("Canceled") ?? 0,
    terminated: counted.get("Terminated") ?? 0,
    timedOut: counted.get("TimedOut") ?? 0,
  };
};

const countPayees = async (
  { batch, hashes, totals }: BatchToApprove,
  { account, payees }: BatchParts,
): Promise<CountedPayees> => {
  const { client, heartbeat } = Context.current();
  const inputs: Array<PayoutInput> = [];
  const known = new Map<string, PayeeMarks>();
  const marks: Array<ReadonlyArray<string>> = [];
  let paid: Readonly<Record<string, string>> = {};
  const markOf = async (input: PayoutInput): Promise<string> => {
    if ("beneficiary" in input) return "";
    const { beneficiary_id } = input;
    const marks =
      known.get(beneficiary_id) ?? (await payees.marksOf(beneficiary_id, { nonRetryable: false }));
    known.set(beneficiary_id, marks);
    return marks.details[0];
  };
  const heart = setInterval(() => heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    for (const [index, hash] of hashes.entries()) {
      const chunk = index + 1;
      const named = { batch, chunk, hash, account: account.name, ...(chunk === 1 && { hashes }) };
      const rows = checkedRows(await readChunk(client, chunkId(batch, chunk)), named);
      paid = sumOf(rows, { batch, totals, paid });
      const marksOfChunk: Array<string> = [];
      for (const { input } of rows) {
        inputs.push(input);
        marksOfChunk.push(await markOf(input));
      }
      marks.push(marksOfChunk);
    }
  } finally {
    clearInterval(heart);
  }
  return { ...(await payees.count(inputs, known)), ...(known.size > 0 && { marks }) };
};

/** The activities of batches. */
export const makeBatchActivities = (parts: BatchParts): BatchActivities => ({
  startPayoutRuns: (chunk) => startPayoutRuns(chunk, parts),
  countPayees: (batch) => countPayees(batch, parts),
  closeChunks: async ({ batch, from, to }) => {
    for (let chunk = from; chunk <= to; chunk += 1) {
      Context.current().heartbeat();
      await closeChunk(chunkId(batch, chunk), "Its rows are not to be started.");
    }
  },
  awaitPayoutRuns,
});
