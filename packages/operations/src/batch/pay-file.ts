import { makePaymentsClient } from "@durable-payments/api-core";
import { isAtLeast } from "@durable-payments/api-core/decimal";
import { canonicalDecimal, messageOf } from "@durable-payments/api-core/values";
import {
  type Batch,
  type BatchRow,
  needsApproval,
  type Run,
  type SimilarPayment,
} from "@durable-payments/ledger";
import { atOnce, batchQueue } from "@durable-payments/protocol";
import { chunkId, MOST_ROWS_OF_CHUNK, type PayoutChunk } from "@durable-payments/protocol/calls";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import * as Result from "effect/Result";
import { basename } from "node:path";
import { type Acting, actorOf } from "../acting.ts";
import { accountNamed, type Operations } from "../connection/operations.ts";
import type { ServiceSettings } from "../connection/settings.ts";
import { changing } from "../connection/temporal-errors.ts";
import { invalidInput, refused } from "../errors.ts";
import { isAmount } from "@durable-payments/protocol/inputs";
import { sumMoney } from "../show/sums.ts";
import { findDuplicates, similarText } from "../start/start-run.ts";
import type { CheckedFile, CheckedRow } from "./check-rows.ts";
import type { KeptOfBatch } from "./details.ts";

/** How a file is paid. */
export interface PayFileOptions extends Acting {
  /** A total above this, in any currency, waits for a second person: a decimal string. */
  readonly approveAbove?: string | undefined;
  /** Most payouts that have yet to be sent at a time. */
  readonly window?: number | undefined;
}

/** What is known of a file before it is paid. */
export interface FilePlan {
  readonly batch: string;
  readonly rows: number;
  readonly totals: Readonly<Record<string, string>>;
  /** Rows that another batch has already: they are not paid again. */
  readonly known: ReadonlyArray<{ readonly number: number; readonly batch: string }>;
  /** Rows that are likely a duplicate of a payment under another id: a warning. */
  readonly similar: ReadonlyArray<{
    readonly number: number;
    readonly workflowId: string;
    readonly others: ReadonlyArray<SimilarPayment>;
  }>;
  readonly needsApproval: boolean;
  /** The batch, where it was uploaded before. */
  readonly uploaded: Batch | undefined;
}

const DEFAULT_WINDOW = 200;
/** Rows of one payee and amount that each further one is compared with. */
const MOST_COMPARED = 100;
const SAVED_AT_ONCE = 5_000;
const READ_AT_ONCE = 1_000;
/** Temporal refuses payloads of 2 MB. */
const MOST_BYTES = 900_000;

/** Checks how a file is to be paid, and by whom. @throws InvalidInput */
export const checkPayOptions = (options: PayFileOptions): void => {
  actorOf(options);
  const { approveAbove, window = DEFAULT_WINDOW } = options;
  if (approveAbove !== undefined && !isAmount(approveAbove))
    throw invalidInput(
      'The limit (--approve-above) must be a decimal amount, such as "10000.00". Nothing was started.',
    );
  if (!(Number.isInteger(window) && window >= 1))
    throw invalidInput("The window (--window) must be a whole number from 1. Nothing was started.");
};

const inParts = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );

/** Refuses keys that were used for another payment, by any batch or single run. */
const checkKeys = async (
  { ledger }: Operations,
  rows: ReadonlyArray<CheckedRow>,
): Promise<void> => {
  const known = new Map<string, Run>();
  for (const part of inParts(rows, READ_AT_ONCE)) {
    const workflowIds = part.map(({ workflowId }) => workflowId);
    const runs = await ledger.runs({ workflowIds, limit: part.length });
    for (const run of runs) known.set(run.workflowId, run);
  }
  const faults = rows.flatMap(({ number, payment, workflowId }) => {
    const run = known.get(workflowId);
    const isOther =
      run !== undefined &&
      (run.batch === null ||
        run.currency !== payment.currency ||
        run.payee !== payment.payee ||
        canonicalDecimal(run.amount ?? "") !== canonicalDecimal(payment.amount));
    return isOther
      ? [{ field: `row ${number}, key:`, problem: "was used for another payment already" }]
      : [];
  });
  if (faults.length > 0)
    throw invalidInput(
      `The file has ${faults.length} keys of other payments. Nothing was started.`,
      faults.slice(0, 100),
    );
};

/** Finds for each row the earlier rows of the same file that pay the same: payee, amount, currency, and reference where both have one. */
const repeatsIn = (
  rows: ReadonlyArray<CheckedRow>,
): ReadonlyArray<ReadonlyArray<SimilarPayment>> => {
  const seen = new Map<string, Array<SimilarPayment>>();
  return rows.map(({ payment: { amount, currency, payee, reference }, workflowId }) => {
    if (payee === null) return [];
    const paid = JSON.stringify([payee, currency, canonicalDecimal(amount)]);
    const earlier = seen.get(paid) ?? [];
    const like = earlier.filter(
      (other) => other.reference === null || reference === null || other.reference === reference,
    );
    if (earlier.length < MOST_COMPARED)
      seen.set(paid, [...earlier, { workflowId, reference, state: null, at: Date.now() }]);
    return like;
  });
};

/**
 * Compares a checked file with what was paid before. Nothing is changed.
 *
 * @throws InvalidInput where a key was used for another payment, or an option is not valid.
 */
export const planFile = async (
  operations: Operations,
  checked: CheckedFile,
  options: PayFileOptions,
): Promise<FilePlan> => {
  checkPayOptions(options);
  const { ledger } = operations;
  const account = accountNamed(operations, checked.account);
  const fingerprints = checked.rows.map(({ fingerprint }) => fingerprint);
  const others = new Map(
    (await ledger.rowsWithFingerprints(account, fingerprints))
      .filter(({ batch, state }) => batch !== checked.batch && state !== "rejected")
      .map(({ batch, fingerprint }) => [fingerprint, batch]),
  );
  const fresh = checked.rows.filter(({ fingerprint }) => !others.has(fingerprint));
  await checkKeys(operations, fresh);
  const similar = await findDuplicates(operations, account, fresh);
  const repeated = repeatsIn(fresh);
  const sums = sumMoney(fresh.map(({ payment }) => payment));
  const { approveAbove } = options;
  const limits = await ledger.limits(account);
  return {
    batch: checked.batch,
    rows: checked.rows.length,
    totals: Object.fromEntries(sums.map(({ amount, currency }) => [currency, amount])),
    known: checked.rows.flatMap(({ fingerprint, number }) => {
      const batch = others.get(fingerprint);
      return batch === undefined ? [] : [{ number, batch }];
    }),
    similar: fresh.flatMap(({ number, workflowId }, at) => {
      const like = [...(similar[at] ?? []), ...(repeated[at] ?? [])];
      return like.length === 0 ? [] : [{ number, workflowId, others: like }];
    }),
    needsApproval: sums.some(
      (sum) => needsApproval(sum, approveAbove, limits.approveAbove) !== undefined,
    ),
    uploaded: await ledger.batch(checked.batch),
  };
};

const MOST_WARNINGS = 20;

/** Words which rows are likely duplicates, for whoever pays or approves the file. */
export const warningsOf = ({ similar }: Pick<FilePlan, "similar">): ReadonlyArray<string> => [
  ...similar
    .slice(0, MOST_WARNINGS)
    .map(
      ({ number, others }) =>
        `Row ${number} may be a duplicate of ${others.slice(0, 2).map(similarText).join("; ")}`,
    ),
  ...(similar.length > MOST_WARNINGS
    ? [`… and ${similar.length - MOST_WARNINGS} rows more that may be duplicates`]
    : []),
];

const batchRow = (
  { fingerprint, number, payment, workflowId }: CheckedRow,
  other: string | undefined,
): BatchRow => ({
  ...payment,
  number,
  workflowId,
  fingerprint,
  state: other === undefined ? "waiting" : "rejected",
  message: other === undefined ? null : `Already in ${other}.`,
});

/** Rows in parts that Temporal takes as one input. */
const chunksOf = (rows: ReadonlyArray<CheckedRow>): ReadonlyArray<ReadonlyArray<CheckedRow>> => {
  const chunks: Array<Array<CheckedRow>> = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const size = Buffer.byteLength(JSON.stringify(row.input)) + 300;
    const last = chunks.at(-1);
    if (last === undefined || last.length === MOST_ROWS_OF_CHUNK || bytes + size > MOST_BYTES) {
      chunks.push([row]);
      bytes = size;
    } else {
      last.push(row);
      bytes += size;
    }
  }
  return chunks;
};

const startChunk = async (
  operations: Operations,
  chunk: PayoutChunk,
  number: number,
): Promise<void> => {
  const { client, taskQueue } = operations;
  const mayBe = `${chunk.batch} may have been uploaded in part: pay the file again, which continues it`;
  try {
    await changing(operations, chunk.batch, mayBe, () =>
      client.workflow.start("payoutBatch", {
        workflowId: chunkId(chunk.batch, number),
        taskQueue: batchQueue(taskQueue),
        args: [chunk],
        // One that was terminated may be started again: the ledger knows which rows were started.
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "FAIL",
        staticSummary: `${chunk.rows.length} rows of ${chunk.batch}`,
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
};

/**
 * Uploads the rows of a checked file as one batch, and has them paid: each row once, in whichever file it stands. It can
 * be called again after any failure, and continues.
 *
 * @param plan what `planFile` has found.
 * @returns the batch as it is now: `needsApproval`, or `approved` where its rows are being started.
 * @throws Refused where the same rows were uploaded by somebody else.
 */
export const payFile = async (
  operations: Operations,
  checked: CheckedFile,
  plan: FilePlan,
  options: PayFileOptions,
): Promise<Batch> => {
  const { ledger } = operations;
  const { by } = actorOf(options);
  const account = accountNamed(operations, checked.account);
  const { batch: id, rows } = checked;
  const chunks = chunksOf(rows);
  const kept: KeptOfBatch = { chunks: chunks.length, warnings: warningsOf(plan) };
  const uploading = await ledger.saveBatch(id, (before) => {
    if (before !== undefined && before.createdBy !== by) {
      throw refused(
        `${before.createdBy} uploaded the same rows as ${id}. Nothing was started.`,
        id,
      );
    }
    const batch: Batch = before ?? {
      id,
      account,
      type: "payout",
      file: basename(checked.file),
      contentHash: checked.contentHash,
      rows: rows.length,
      state: "uploading",
      createdBy: by,
      createdAt: 0,
      approvedBy: null,
      details: JSON.stringify(kept),
    };
    return { batch };
  });
  if (uploading.state !== "uploading") return uploading;
  const known = new Map(plan.known.map(({ batch, number }) => [number, batch]));
  for (const part of inParts(rows, SAVED_AT_ONCE)) {
    await ledger.saveRows(
      id,
      part.map((row) => batchRow(row, known.get(row.number))),
    );
    const own = part.filter(({ number }) => !known.has(number));
    await ledger.noteRuns(
      own.map(({ number, payment, workflowId }) => ({
        ...payment,
        account,
        workflowId,
        runId: null,
        type: "payout",
        startedBy: by,
        batch: id,
        batchRow: number,
      })),
    );
  }
  const window = Math.ceil((options.window ?? DEFAULT_WINDOW) / chunks.length);
  await atOnce([...chunks.entries()], ([at, some]) => {
    const inputs = some.map(({ input, number, workflowId }) => ({ input, number, workflowId }));
    return startChunk(operations, { batch: id, startedBy: by, window, rows: inputs }, at + 1);
  });
  // Only now: what was uploaded in part is not paid in part. Another upload of the file may have been first.
  return ledger.saveBatch(id, (before = uploading) => ({
    batch:
      before.state === "uploading"
        ? { ...before, state: plan.needsApproval ? "needsApproval" : "approved" }
        : before,
  }));
};

/** What a currency's balance holds, against what a file pays. */
export interface Funds {
  readonly currency: string;
  readonly total: string;
  /** null where it could not be read. */
  readonly available: string | null;
  readonly isEnough: boolean | null;
  readonly problem?: string;
}

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Compares totals with the balances of their currencies, where the service can be asked.
 *
 * @param totals decimal strings by currency.
 * @param settings address and credentials of the service, or why they are not known here.
 */
export const compareFunds = async (
  totals: Readonly<Record<string, string>>,
  settings: ServiceSettings,
): Promise<ReadonlyArray<Funds>> => {
  const entries = Object.entries(totals).map(([currency, total]) => ({ currency, total }));
  const unknown = (problem: string) => ({ available: null, isEnough: null, problem });
  if (Result.isFailure(settings)) {
    const problem = unknown("not compared: PAYMENTS_* is not set here");
    return entries.map((entry) => ({ ...entry, ...problem }));
  }
  const { requestTimeoutMs } = settings.success;
  const client = makePaymentsClient({
    ...settings.success,
    maxAttempts: 1,
    requestTimeoutMs: Math.min(REQUEST_TIMEOUT_MS, requestTimeoutMs),
  });
  const compared = async (entry: (typeof entries)[number]): Promise<Funds> => {
    try {
      const { available_balance: available } = await client.retrieveBalance({
        currency: entry.currency,
      });
      return { ...entry, available, isEnough: isAtLeast(available, entry.total) };
    } catch (error) {
      return { ...entry, ...unknown(messageOf(error)) };
    }
  };
  try {
    return await Promise.all(entries.map(compared));
  } finally {
    await client.close();
  }
};
