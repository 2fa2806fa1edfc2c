import {
  type Batch,
  type BatchRow,
  type BatchRowChange,
  isRowStarted,
  type Ledger,
  type WriteState,
} from "@durable-payments/ledger";
import {
  type BatchActivities,
  failureTypes,
  type PayoutChunk,
  type PayoutRow,
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
  requestTerms,
  type RunMemo,
  type Workflows,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
} from "@temporalio/client";
import { ApplicationFailure, WorkflowNotFoundError } from "@temporalio/common";
import { setTimeout as sleep } from "node:timers/promises";
import { describeAccount, payeeMark, UNKNOWN_PAYEE } from "@durable-payments/protocol/account";
import { notYet, type PaymentsRuntime, readKnown } from "./run-operation.ts";
import { isPaymentsError, waitAfterMs, withReason } from "./write/outcomes.ts";

/** Dependencies of the activity of a batch. */
export interface BatchOptions {
  readonly ledger: Ledger;
  /** Has the client of the account that pays. */
  readonly runtime: PaymentsRuntime;
  /** Base queue of the worker: rows run on its queue of batches. */
  readonly taskQueue: string;
}

/** States of a payout whose outcome is being found out. */
const UNSETTLED: ReadonlySet<WriteState> = new Set(["sending", "unknown", "asking"]);

/** Failures of a run that say something of its payout, and not only of the run. */
const OF_PAYOUT: ReadonlySet<string> = new Set([
  failureTypes.payoutFailed,
  failureTypes.payoutDiffers,
  failureTypes.payoutStillOpen,
]);

const ENDED_IN_DOUBT = "Ended by a person; the outcome of its payout is unknown.";

/** Returns the innermost cause of the failure of a run. */
const causeOf = async (result: Promise<unknown>): Promise<unknown> => {
  try {
    await result;
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    let cause: unknown = error;
    while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
    return cause;
  }
};

const LOOK_EVERY_MS = 1_000;
const FIRST_LOOK_MS = 5_000;
const LONGEST_LOOK_MS = 10 * 60_000;

/** Returns the reason why only a person can let rows of an open file start. */
export const whyWaiting = async (
  ledger: Ledger,
  { id, state }: Pick<Batch, "id" | "state">,
): Promise<string | undefined> => {
  if (state === "needsApproval") return "The batch is waiting for approval by a second person.";
  if (state === "reading") return "The payees of other rows of the batch are being read.";
  const pauses = await ledger.pauses();
  const pause = pauses.find(({ of, scope }) => scope === "all" || (scope === "batch" && of === id));
  return pause && `Paused by ${pause.by}: ${pause.reason}`;
};

/** The rows of one chunk, with their state in the ledger. */
const chunkOf = (
  client: Client,
  { ledger, runtime, taskQueue }: BatchOptions,
  chunk: PayoutChunk,
) => {
  const { batch, rows, startedBy } = chunk;
  const inputs = new Map(rows.map((row) => [row.number, row]));

  const readRows = async (): Promise<ReadonlyArray<BatchRow>> => {
    const first = rows[0]?.number ?? 1;
    const limit = (rows.at(-1)?.number ?? 0) - first + 1;
    const found = await ledger.batchRows(batch, { after: first - 1, limit });
    return found.filter(({ number }) => inputs.has(number));
  };

  /** Does something for each row, and records what it returns. */
  const change = async (
    changed: ReadonlyArray<BatchRow>,
    use: (row: BatchRow) => Promise<BatchRowChange | undefined>,
  ): Promise<ReadonlyArray<BatchRowChange | undefined>> => {
    const changes = await atOnce(changed, use);
    await ledger.changeRows(
      batch,
      changes.filter((one) => one !== undefined),
    );
    return changes;
  };

  /** The input of a row, if it is that of the file: anybody who has access to Temporal may start the workflow of a chunk. */
  const inputOf = ({ number, payee, terms }: BatchRow): PayoutRow | undefined => {
    const row = inputs.get(number);
    if (row === undefined || requestTerms("createPayout", row.input.payout) !== terms)
      return undefined;
    const { input } = row;
    const paid =
      "beneficiary" in input
        ? ledger.keyed(payeeMark(input.beneficiary) ?? "")
        : input.beneficiary_id;
    return payee === paid ? row : undefined;
  };

  /**
   * Reads the accounts that rows pay, before the file waits for approval: a `beneficiary_id` says nothing of the
   * account behind it, and an approver may have no key of the service. The account is read again at the send, so an
   * account that was changed meanwhile asks again.
   */
  const readPayees = async (waiting: ReadonlyArray<BatchRow>): Promise<void> => {
    const { cancellationSignal, info } = Context.current();
    const unread = Map.groupBy(
      waiting.filter(({ shown }) => shown === null),
      ({ payee }) => payee ?? "",
    );
    await atOnce([...unread], async ([beneficiary_id, of]) => {
      const keep = (payee: Parameters<Ledger["keepPayees"]>[2]) =>
        ledger.keepPayees(
          batch,
          of.map(({ number }) => number),
          payee,
        );
      const read = readKnown(
        runtime,
        (service) => service.retrieveBeneficiary({ beneficiary_id }),
        cancellationSignal,
      );
      try {
        const described = describeAccount(await read, ledger.keyed);
        await keep(described);
        const { account = "" } = (await ledger.batch(batch)) ?? {};
        if (described !== UNKNOWN_PAYEE)
          await ledger.rememberPayees(account, [{ payee: beneficiary_id, ...described }]);
      } catch (error) {
        if (!isPaymentsError(error)) throw error;
        const message = `The payees cannot be read: ${withReason(error)}`;
        await keep({ mark: null, shown: null, message });
        throw notYet(message, waitAfterMs(error, info.attempt));
      }
    });
  };

  const payoutsOf = async (workflowId: string) =>
    (await ledger.rowsOf(workflowId)).filter(({ operation }) => operation === "createPayout");

  /** Whether another batch has started the row, according to the ledger: a memo alone proves nothing. */
  const isStartedBy = async (other: string, { fingerprint }: BatchRow): Promise<boolean> => {
    const { account = "" } = (await ledger.batch(batch)) ?? {};
    const rows = await ledger.rowsWithFingerprints(account, [fingerprint]);
    return rows.some((row) => row.batch === other && isRowStarted(row.state));
  };

  /** Starts the run of a row, or follows the one of its id. Returns the outcome of a row that another batch has started. */
  const start = async (row: BatchRow): Promise<BatchRowChange | undefined> => {
    const given = inputOf(row);
    if (given === undefined) return undefined;
    const { input, number, workflowId } = given;
    const voucher: Voucher = { workflowId, at: Date.now(), is: "first" };
    const memo: RunMemo = { [BATCH_MEMO]: batch, [VOUCHER]: voucher };
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
      if (typeof other === "string" && other !== batch && (await isStartedBy(other, row)))
        return { number, state: "covered", message: `Already in ${other}.` };
    }
    return undefined;
  };

  /**
   * The outcome of a started row: that of its payout in the ledger, whatever became of its run. Undefined while its run is
   * open, or the outcome of its payout is unknown. A row that was taken but not started is started.
   */
  const ending = async (row: BatchRow): Promise<BatchRowChange | undefined> => {
    const { number, workflowId } = row;
    const handle = client.workflow.getHandle(workflowId);
    const described = await handle.describe().catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
    if (described === undefined) return start(row);
    const { status } = described;
    if (isOpenStatus(status.name)) return undefined;
    const cause = status.name === "COMPLETED" ? undefined : await causeOf(handle.result());
    const writes = await payoutsOf(workflowId);
    const made = writes.find(({ state }) => state === "done");
    if (made === undefined && writes.some(({ state }) => UNSETTLED.has(state))) return undefined;
    const isDoubted = writes.some(({ doubt, state }) => state === "ended" && doubt > 0);
    const why = cause === undefined ? undefined : messageOf(cause);
    const failed = (message: string) => ({ number, state: "failed" as const, message });
    if (made === undefined)
      return failed(isDoubted ? ENDED_IN_DOUBT : (why ?? "Ended without a payout."));
    const waits = await ledger.waits({ workflowId });
    const isFailed = waits.some(
      ({ outcome, thing }) => thing === made.madeId && outcome?.["outcome"] === "failed",
    );
    const isOfPayout = cause instanceof ApplicationFailure && OF_PAYOUT.has(cause.type ?? "");
    if (isFailed || isOfPayout) return failed(why ?? "The payout has failed at the service.");
    const message = why === undefined ? null : `The payout was made, and its run ended: ${why}`;
    return { number, state: "succeeded", message };
  };

  /** Returns the number of runs that have not sent their payout yet. */
  const countUnsent = async (started: ReadonlyArray<BatchRow>): Promise<number> => {
    const payouts = await atOnce(started, ({ workflowId }) => payoutsOf(workflowId));
    return payouts.filter((writes) => !writes.some(({ state }) => state === "done")).length;
  };

  return { readRows, readPayees, change, inputOf, start, ending, countUnsent };
};

/** Makes the activity that starts the rows of a batch and follows them. */
export const makeBatchActivities = (options: BatchOptions): BatchActivities => ({
  startRows: async (given): Promise<StartedRows> => {
    const { ledger } = options;
    const context = Context.current();
    const signal = context.cancellationSignal;
    const chunk = chunkOf(context.client, options, given);
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
        const endings = await chunk.change(started, chunk.ending);
        const open = started.filter((_, at) => endings[at] === undefined);
        const waiting = rows.filter(({ state }) => state === "waiting");
        if (open.length + waiting.length === 0) {
          await ledger.finishBatch(given.batch);
          return { is: "done" };
        }
        if (waiting.length === 0) {
          // A wait costs no event; a payout takes days.
          const age = Date.now() - context.info.scheduledTimestampMs;
          const delay = Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 10));
          throw notYet(`${open.length} runs are open.`, delay);
        }
        if (batch.state === "rejected" || batch.state === "cancelled") {
          await ledger.rejectRows(given.batch, "The batch was rejected or cancelled.");
          continue;
        }
        if (batch.state === "reading" && waiting.some(({ shown }) => shown === null)) {
          await chunk.readPayees(waiting);
          continue;
        }
        const why = await whyWaiting(ledger, batch);
        if (why !== undefined) return { is: "waiting", why };
        const free = given.window - (await chunk.countUnsent(open));
        const filed = waiting.filter((row) => chunk.inputOf(row) !== undefined);
        const next = filed.slice(0, Math.max(0, free)).map(({ number }) => number);
        const claimed = new Set(await ledger.claimRows(given.batch, next));
        await chunk.change(
          filed.filter(({ number }) => claimed.has(number)),
          chunk.start,
        );
        if (Date.now() - begun > LONGEST_LOOK_MS)
          throw notYet("Rows are waiting for other rows to finish.", LOOK_EVERY_MS);
        if (next.length < waiting.length) await sleep(LOOK_EVERY_MS, undefined, { signal });
      }
    } finally {
      clearInterval(heart);
    }
  },
});
