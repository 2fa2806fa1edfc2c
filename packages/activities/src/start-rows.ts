/*
 * Starts the rows of a file or a repair, and follows them until each has an outcome.
 *
 * A row is a payment of its own, which a crash must neither skip nor start twice. So the ledger marks a row as started
 * before its run is started. A marked row without a run is started again under the same id. Anyone with access to
 * Temporal can start the workflow of a file. So a row counts only if it equals the approved row of the ledger.
 */
import { isPaymentsError } from "@durable-payments/client/effect";
import {
  type Batch,
  type FoundBatchRow,
  type Ledger,
  OPEN_STATUSES,
  type RunStatus,
} from "@durable-payments/ledger";
import {
  type BatchChunk,
  type FileRow,
  type RepairRow,
  type StartedRows,
  VOUCHER,
  type Voucher,
} from "@durable-payments/protocol/calls";
import {
  atOnce,
  BATCH_MEMO,
  batchQueue,
  findRun,
  fingerprintOf,
  isNotFound,
  type RunMemo,
  temporalReason,
  type Workflows,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
} from "@temporalio/client";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { setTimeout as sleep } from "node:timers/promises";
import { describeAccount, hashOf, UNKNOWN_PAYEE } from "@durable-payments/protocol/account";
import { retryRow } from "./retry/retry-row.ts";
import { notYet, type PaymentsRuntime, readKnown } from "./run-operation.ts";
import { waitAfterMs, withReason } from "./write/outcomes.ts";

/** Dependencies of the activity of a batch. */
export interface BatchOptions {
  readonly ledger: Ledger;
  /** Has the client of the account that pays. */
  readonly runtime: PaymentsRuntime;
  /** Base queue of the worker: rows run on its queue of batches. */
  readonly taskQueue: string;
}

const LOOK_EVERY_MS = 1_000;
const FIRST_LOOK_MS = 5_000;
const LONGEST_LOOK_MS = 10 * 60_000;

/** The last part of an upload, after which its rows start, takes seconds. */
const UPLOADED_WITHIN_MS = 60_000;

/** gRPC's code of an invalid request. A failed precondition may pass: a namespace that fails over is not active for a while. */
const INVALID_ARGUMENT = 3;

/** Returns the reason why Temporal never starts a row; undefined if it may later. */
const whyRefused = (error: unknown, { run }: FoundBatchRow): string | undefined => {
  const cause = error instanceof ServiceError ? error.cause : error;
  const isInvalid = isGrpcServiceError(cause) && (cause.code as number) === INVALID_ARGUMENT;
  return isInvalid || (run !== null && isNotFound(cause))
    ? `Temporal refuses to start it: ${temporalReason(error)}`
    : undefined;
};

/** Returns the reason why only a person can let rows of an open file start. */
const whyWaiting = async (ledger: Ledger, { id, state }: Pick<Batch, "id" | "state">) => {
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
  chunk: BatchChunk,
) => {
  const { batch, rows, startedBy } = chunk;
  const inputs = new Map(rows.map((row) => [row.number, row]));
  /** Ids whose start was asked for: the first step of a run records it. */
  const asked = new Set<string>();

  const readRows = async (): Promise<ReadonlyArray<FoundBatchRow>> => {
    const first = rows[0]?.number ?? 1;
    const limit = (rows.at(-1)?.number ?? 0) - first + 1;
    const found = await ledger.batchRows(batch, { after: first - 1, limit });
    return found.filter(({ number }) => inputs.has(number));
  };

  /** The row of a repair, if it is the one that was decided. */
  const repairOf = ({ number, repair, run }: FoundBatchRow): RepairRow | undefined => {
    const row = inputs.get(number);
    if (row === undefined || !("run" in row) || row.run !== run) return undefined;
    const { hash } = repair?.amend ?? {};
    return hash === (row.input === undefined ? undefined : hashOf(row.input)) ? row : undefined;
  };

  /** The input of a row, if it matches the file: anyone with access to Temporal may start the workflow of a chunk. */
  const inputOf = ({ fingerprint, number, workflowId }: FoundBatchRow): FileRow | undefined => {
    const row = inputs.get(number);
    if (row === undefined || "run" in row) return undefined;
    const key = workflowId.slice(workflowId.indexOf("/") + 1);
    return fingerprintOf(key, row.input) === fingerprint ? row : undefined;
  };

  /**
   * Reads the accounts that rows pay, before the file waits for approval: a `beneficiary_id` says nothing of the
   * account behind it, and an approver may have no key of the service. The account is read again at the send, so an
   * account that was changed meanwhile asks again.
   */
  const readPayees = async (waiting: ReadonlyArray<FoundBatchRow>): Promise<void> => {
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

  /** Whether another batch has started the row, according to the ledger: a memo alone proves nothing. */
  const isStartedBy = async (other: string, { fingerprint }: FoundBatchRow): Promise<boolean> => {
    const { account = "" } = (await ledger.batch(batch)) ?? {};
    const rows = await ledger.rowsWithFingerprints(account, [fingerprint]);
    return rows.some((row) => row.batch === other && row.state === "started");
  };

  /** Retries the run of a row. Returns whether it was left out, because somebody else has retried it, or it cannot help. */
  const retry = async (row: FoundBatchRow): Promise<boolean> => {
    const given = repairOf(row);
    if (given === undefined) return false;
    asked.add(row.workflowId);
    const why = await retryRow({ client, ledger }, batch, row, given.input);
    if (why !== undefined) await ledger.coverRow(batch, row.number, why);
    return why !== undefined;
  };

  /** Starts the run of a row, or follows the one of its id. Returns whether another batch has started it. */
  const begin = async (row: FoundBatchRow): Promise<boolean> => {
    if (row.run !== null) return retry(row);
    const given = inputOf(row);
    if (given === undefined) return false;
    const { input, number } = given;
    const { workflowId } = row;
    asked.add(workflowId);
    const voucher: Voucher = { workflowId, at: Date.now(), is: "first" };
    const memo: RunMemo = { [BATCH_MEMO]: batch, [VOUCHER]: voucher };
    // No name of a person: Temporal does not encrypt it.
    const summary = [`${row.currency} ${row.amount}`, row.reference].filter(Boolean).join(", ");
    const options = {
      workflowId,
      taskQueue: batchQueue(taskQueue),
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      workflowIdConflictPolicy: "FAIL",
      memo,
      args: [input],
      staticSummary: summary.slice(0, 200),
      staticDetails: `Row ${number} of ${batch}, uploaded by ${startedBy}.`,
    } as const;
    const type: keyof Workflows = "payout" in input ? "payout" : "onboardCardholder";
    try {
      await client.workflow.start<(given: typeof input) => Promise<unknown>>(type, options);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      const found = await findRun(client, workflowId);
      const kept = found?.raw.workflowExecutionInfo?.memo?.fields?.[BATCH_MEMO];
      const { loadedDataConverter } = client.options;
      // Anybody can write any bytes into the memo of a run that they start.
      const [other] = await decodeArrayFromPayloads(loadedDataConverter, kept && [kept]).catch(
        () => [],
      );
      // A run that another starter has begun under the id can pay only the row. It is followed as the row's run.
      if (typeof other === "string" && other !== batch && (await isStartedBy(other, row))) {
        await ledger.coverRow(batch, number, `Already in ${other}.`);
        return true;
      }
    }
    return false;
  };

  /** As {@link begin}; true as well if Temporal never starts it, which delays no other row. */
  const start = async (row: FoundBatchRow): Promise<boolean> => {
    try {
      return await begin(row);
    } catch (error) {
      const why = whyRefused(error, row);
      if (why === undefined) throw error;
      await ledger.refuseRow(batch, row.number, why);
      return true;
    }
  };

  /**
   * Starts a row again whose run is lost. After an amendment, only who has the amended input can: its file has an older
   * one.
   */
  const startAgain = async (row: FoundBatchRow): Promise<boolean> => {
    if (row.run !== null) return start(row);
    const decisions = await ledger.decisionsOf(row.workflowId);
    const last = decisions.findLast(({ kind }) => kind === "start" || kind === "amend");
    return last?.kind !== "amend" && (await start(row));
  };

  /**
   * Returns the runs of started rows without an outcome: their run is open, or their payout is under way. The tracker records
   * how runs end. A row that was taken and not started, and one whose run is lost, is started.
   */
  const follow = async (
    started: ReadonlyArray<FoundBatchRow>,
    isPaused: boolean,
  ): Promise<ReadonlyArray<RunStatus>> => {
    const workflowIds = started.map(({ workflowId }) => workflowId);
    const runs = workflowIds.length === 0 ? [] : await ledger.runs({ workflowIds });
    const known = new Map(runs.map((run) => [run.workflowId, run]));
    /** A row was taken, and its run is still the failed one. */
    const isUnretried = ({ run, workflowId }: FoundBatchRow): boolean =>
      run !== null && known.get(workflowId)?.runId === run;
    const statusOf = (row: FoundBatchRow): RunStatus =>
      isUnretried(row) ? "running" : (known.get(row.workflowId)?.status ?? "running");
    const open = started.filter((row) => OPEN_STATUSES.has(statusOf(row)));
    const unstarted = open.filter((row) => {
      const { run, workflowId } = row;
      const { endState = null, runId = null } = known.get(workflowId) ?? {};
      // A send is held by a pause of its own file alone.
      if (run !== null) return !isPaused && !asked.has(workflowId) && isUnretried(row);
      return !asked.has(workflowId) && (endState ?? runId ?? "missing") === "missing";
    });
    const areCovered = await atOnce(unstarted, startAgain);
    const covered = new Set(unstarted.filter((_, at) => areCovered[at]));
    return open.filter((row) => !covered.has(row)).map(statusOf);
  };

  const isDecided = (row: FoundBatchRow): boolean =>
    (row.run === null ? inputOf(row) : repairOf(row)) !== undefined;
  return { readRows, readPayees, isDecided, start, follow };
};

/** Makes the activity that starts the rows of a batch and follows them. */
export const makeBatchActivities = (options: BatchOptions) => ({
  startRows: async (given: BatchChunk): Promise<StartedRows> => {
    const { ledger } = options;
    const context = Context.current();
    const signal = context.cancellationSignal;
    const chunk = chunkOf(context.client, options, given);
    const begun = performance.now();
    const age = Date.now() - context.info.scheduledTimestampMs;
    const laterMs = Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 10));
    let taken = 0;
    const heart = setInterval(() => context.heartbeat(), LOOK_EVERY_MS * 5);
    try {
      for (;;) {
        signal.throwIfAborted();
        const batch = await ledger.batch(given.batch);
        if (batch === undefined || batch.state === "uploading")
          throw age < UPLOADED_WITHIN_MS
            ? notYet("The file is being uploaded.", LOOK_EVERY_MS)
            : notYet(
                `The upload of ${given.batch} by ${given.startedBy} was interrupted, and no row was started. Give the same command again: it continues under the same id, and starts each row once.`,
                laterMs,
              );
        const rows = await chunk.readRows();
        const started = rows.filter(({ state }) => state === "started");
        const why = await whyWaiting(ledger, batch);
        const open = await chunk.follow(started, why !== undefined);
        const waiting = rows.filter(({ state }) => state === "waiting");
        if (open.length + waiting.length === 0) {
          await ledger.finishBatch(given.batch);
          return { is: "done" };
        }
        if (waiting.length === 0) {
          // A wait costs no event; a payout takes days.
          throw notYet(
            open.length === 1 ? "1 run is open." : `${open.length} runs are open.`,
            laterMs,
          );
        }
        if (batch.state === "rejected" || batch.state === "cancelled") {
          await ledger.rejectRows(given.batch);
          continue;
        }
        if (batch.state === "reading" && waiting.some(({ shown }) => shown === null)) {
          await chunk.readPayees(waiting);
          continue;
        }
        if (why !== undefined) return { is: "waiting", why };
        // A run that waits for a payout, an identity check or funds takes days, and holds up nothing.
        const room = given.window - open.filter((status) => status !== "waiting").length;
        const { rate } = given;
        const inTime = ((performance.now() - begun) / 1_000) * (rate ?? 0);
        const free = rate === undefined ? room : Math.min(room, 1 + Math.floor(inTime) - taken);
        const filed = waiting.filter(chunk.isDecided);
        const next = filed.slice(0, Math.max(0, free)).map(({ number }) => number);
        const claimed = new Set(await ledger.claimRows(given.batch, next));
        taken += claimed.size;
        await atOnce(
          filed.filter(({ number }) => claimed.has(number)),
          chunk.start,
        );
        if (performance.now() - begun > LONGEST_LOOK_MS)
          throw notYet("Rows are waiting for other rows to finish.", LOOK_EVERY_MS);
        if (next.length < waiting.length) await sleep(LOOK_EVERY_MS, undefined, { signal });
      }
    } finally {
      clearInterval(heart);
    }
  },
});
