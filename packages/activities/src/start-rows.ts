import type { Batch, BatchRow, BatchRowChange, Ledger } from "@durable-payments/ledger";
import {
  type BatchActivities,
  type PayoutChunk,
  type PayoutRow,
  STARTED_BY,
  type StartedRows,
  VOUCHER,
  type Voucher,
} from "@durable-payments/protocol/calls";
import { messageOf } from "@durable-payments/api-core/values";
import {
  atOnce,
  BATCH_MEMO,
  batchQueue,
  isOpenStatus,
  type RunMemo,
  type Workflows,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
} from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import { setTimeout as sleep } from "node:timers/promises";
import { notYet } from "./run-operation.ts";

/** Dependencies of the activity of a batch. */
export interface BatchOptions {
  readonly ledger: Ledger;
  /** Base queue of the worker: rows run on its queue of batches. */
  readonly taskQueue: string;
}

const LOOK_EVERY_MS = 1_000;
const FIRST_LOOK_MS = 5_000;
const LONGEST_LOOK_MS = 10 * 60_000;

/** The reason why only a person can let rows start. */
const whyWaiting = async (ledger: Ledger, { id, state }: Batch): Promise<string | undefined> => {
  if (state === "needsApproval") return "The batch is waiting for approval by a second person.";
  const pauses = await ledger.pauses();
  const pause = pauses.find(({ of, scope }) => scope === "all" || (scope === "batch" && of === id));
  return pause && `Paused by ${pause.by}: ${pause.reason}`;
};

/** The rows of one chunk, with their state in the ledger. */
const chunkOf = (client: Client, { ledger, taskQueue }: BatchOptions, chunk: PayoutChunk) => {
  const { batch, startedBy } = chunk;

  const readRows = async (): Promise<ReadonlyArray<BatchRow>> => {
    const { rows } = chunk;
    const first = rows[0]?.number ?? 1;
    const last = rows.at(-1)?.number ?? 0;
    const limit = last - first + 1;
    const found = await ledger.batchRows(batch, { after: first - 1, limit });
    const own = new Set(rows.map(({ number }) => number));
    return found.filter(({ number }) => own.has(number));
  };

  const change = async (changes: ReadonlyArray<BatchRowChange>): Promise<void> => {
    if (changes.length > 0) await ledger.changeRows(batch, changes);
  };

  /** Starts the run of a row, or follows the one of its id. Returns the outcome of a row that another batch has started. */
  const start = async ({
    input,
    number,
    workflowId,
  }: PayoutRow): Promise<BatchRowChange | undefined> => {
    const voucher: Voucher = { workflowId, at: Date.now(), is: "first" };
    const memo: RunMemo = { [STARTED_BY]: startedBy, [BATCH_MEMO]: batch, [VOUCHER]: voucher };
    const { amount, currency, payout_reference: reference } = input.payout;
    try {
      await client.workflow.start<Workflows["payout"]>("payout", {
        workflowId,
        taskQueue: batchQueue(taskQueue),
        args: [input],
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        workflowIdConflictPolicy: "FAIL",
        memo,
        staticSummary: `${currency} ${amount}, ${reference}`.slice(0, 200),
        staticDetails: `Row ${number} of ${batch}, uploaded by ${startedBy}.`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      const { memo } = await client.workflow.getHandle(workflowId).describe();
      const other = memo?.[BATCH_MEMO];
      // A run that somebody else started under the id pays what the file says, or nothing. It is followed as the row's run.
      if (typeof other === "string" && other !== batch)
        return { number, state: "rejected", message: `Already in ${other}.` };
    }
    return undefined;
  };

  /** The outcome of a started row; undefined while its run is open. A row that was taken but not started is started. */
  const ending = async (
    { number, workflowId }: BatchRow,
    row: PayoutRow | undefined,
  ): Promise<BatchRowChange | undefined> => {
    const handle = client.workflow.getHandle(workflowId);
    const described = await handle.describe().catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
    if (described === undefined) return row && start(row);
    const { status } = described;
    if (isOpenStatus(status.name)) return undefined;
    try {
      if (status.name !== "COMPLETED") await handle.result();
      return { number, state: "succeeded", message: null };
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      let cause: unknown = error;
      while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
      return { number, state: "failed", message: messageOf(cause) };
    }
  };

  /** Returns the number of runs that have not sent their payout yet. */
  const countUnsent = async (started: ReadonlyArray<BatchRow>): Promise<number> => {
    const rows = await atOnce(started, ({ workflowId }) => ledger.rowsOf(workflowId));
    return rows.filter(
      (writes) =>
        !writes.some(({ operation, state }) => operation === "createPayout" && state === "done"),
    ).length;
  };

  return { readRows, change, start, ending, countUnsent };
};

/** Makes the activity that starts the rows of a batch and follows them. */
export const makeBatchActivities = (options: BatchOptions): BatchActivities => ({
  startRows: async (given): Promise<StartedRows> => {
    const { ledger } = options;
    const context = Context.current();
    const signal = context.cancellationSignal;
    const chunk = chunkOf(context.client, options, given);
    const inputs = new Map(given.rows.map((row) => [row.number, row]));
    const begun = Date.now();
    const heart = setInterval(() => context.heartbeat(), LOOK_EVERY_MS * 5);
    try {
      for (;;) {
        signal.throwIfAborted();
        const batch = await ledger.batch(given.batch);
        if (batch === undefined || batch.state === "uploading")
          throw notYet("The file is being uploaded.", LOOK_EVERY_MS);
        const rows = await chunk.readRows();
        const started = rows.filter(({ state }) => state === "started");
        const endings = await atOnce(started, (row) => chunk.ending(row, inputs.get(row.number)));
        await chunk.change(endings.filter((one) => one !== undefined));
        const open = started.filter((_, at) => endings[at] === undefined);
        const waiting = rows.filter(({ state }) => state === "waiting");
        if (open.length + waiting.length === 0) {
          const count = (state: BatchRow["state"]): number =>
            rows.filter((row) => row.state === state).length +
            endings.filter((one) => one?.state === state).length;
          await ledger.finishBatch(given.batch);
          return {
            is: "done",
            succeeded: count("succeeded"),
            failed: count("failed"),
            rejected: count("rejected"),
          };
        }
        if (waiting.length === 0) {
          // A wait costs no event; a payout takes days.
          const age = Date.now() - context.info.scheduledTimestampMs;
          const delay = Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 10));
          throw notYet(`${open.length} runs are open.`, delay);
        }
        if (batch.state === "rejected") {
          await ledger.rejectRows(given.batch, "The batch was rejected or cancelled.");
          continue;
        }
        const why = await whyWaiting(ledger, batch);
        if (why !== undefined) return { is: "waiting", why };
        const free = given.window - (await chunk.countUnsent(open));
        const next = waiting.slice(0, Math.max(0, free)).map(({ number }) => number);
        const claimed = await ledger.claimRows(given.batch, next);
        const refused = await atOnce(
          claimed.flatMap((number) => inputs.get(number) ?? []),
          (row) => chunk.start(row),
        );
        await chunk.change(refused.filter((one) => one !== undefined));
        if (Date.now() - begun > LONGEST_LOOK_MS)
          throw notYet("Rows are waiting for other rows to finish.", LOOK_EVERY_MS);
        if (next.length < waiting.length) await sleep(LOOK_EVERY_MS, undefined, { signal });
      }
    } finally {
      clearInterval(heart);
    }
  },
});
