import { canonicalDecimal } from "@durable-payments/client/values";
import {
  type Batch,
  type BatchRow,
  type Ledger,
  type MoneyState,
  moneyStateOf,
  overLimit,
  type Run,
  type SimilarPayment,
  wasNeverStarted,
} from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { describeAccount } from "@durable-payments/protocol/account";
import { chunksOf } from "effect/Array";
import { basename } from "node:path";
import { accountNamed, type Connected } from "../../facts/connection/connections.ts";
import { invalidInput, refused } from "../../errors.ts";
import { warningsOf } from "../../rules/input.ts";
import { sumMoney } from "../../rules/run-view.ts";
import { checkReason, findDuplicates, similarText } from "../duplicates.ts";
import { type PaymentOf, paymentOf } from "../../rules/payment.ts";
import { paidBy, startOf } from "../start-request.ts";
import type { KeptOfBatch } from "./batch.ts";
import type { CheckedFile, CheckedRow } from "./check-rows.ts";
import {
  beginBatch,
  checkBatchOptions,
  endUpload,
  inChunks,
  needSecond,
  OVER,
  startChunks,
} from "./chunks.ts";
import { type Acting, actorOf } from "../decide/record.ts";

/** Options of a file of payments or cardholders. */
export interface PayFileOptions extends Acting {
  /** A total of payments or card limits above this, in any currency, waits for a second person: a decimal string. */
  readonly approveAbove?: string | undefined;
  /** Most rows at a time that were started, and have neither an accepted payout nor anything to wait for: from 1. */
  readonly window?: number | undefined;
  /** The reason to start rows that look like duplicates: recorded, and shown to the approver. */
  readonly notDuplicate?: string | undefined;
  /** Called after each part of the upload with the number of rows so far, and of all. */
  readonly onPart?: (rows: number, of: number) => void;
}

/** The check of a file before any row is started. */
export type FilePlan = Awaited<ReturnType<typeof planFile>>;

const SAVED_AT_ONCE = 5_000;

/** If commits are slow, more would wait too long for those before them. */
const RECORDED_AT_ONCE = 100;
const READ_AT_ONCE = 1_000;

/** Most rows that an error names. */
const MOST_FAULTS = 100;

/**
 * Refuses keys that were used for another payment, by another batch or a single run. An amended row is still its own, and the
 * key of a row that was rejected before its start is free.
 *
 * @returns the runs of the keys that were used.
 */
const checkKeys = async ({ ledger }: Connected, batch: string, rows: ReadonlyArray<PayingRow>) => {
  const known = new Map<string, Run>();
  for (const part of chunksOf(rows, READ_AT_ONCE)) {
    const workflowIds = part.map(({ workflowId }) => workflowId);
    const runs = await ledger.runs({ workflowIds, limit: part.length });
    for (const run of runs) known.set(run.workflowId, run);
  }
  const faults = rows.flatMap(({ number, payment, workflowId }) => {
    const run = known.get(workflowId);
    const isOther =
      run !== undefined &&
      run.batch !== batch &&
      !wasNeverStarted(run) &&
      // A restored ledger knows a row that its file has started by the first write since, which says no more of its start.
      run.startedBy !== null &&
      (run.batch === null ||
        run.currency !== payment.currency ||
        run.payee !== payment.payee ||
        canonicalDecimal(run.amount ?? "") !== canonicalDecimal(payment.amount));
    if (!isOther) return [];
    const whose = run.batch === null ? workflowId : `row ${run.batchRow} of ${run.batch}`;
    return [{ field: `row ${number}, key:`, problem: `was used before: ${whose}` }];
  });
  if (faults.length > 0)
    throw invalidInput(
      `The file has keys that were used before: ${faults.length}. Nothing was started.`,
      faults.slice(0, MOST_FAULTS),
    );
  return [...known.values()];
};

/** Refuses rows that are above the limits of the account: their runs would only fail. */
const checkLimits = async (ledger: Ledger, account: string, rows: ReadonlyArray<PayingRow>) => {
  const { maxAmounts } = await ledger.limits(account);
  const faults = rows.flatMap(({ number, payment }) => {
    const problem = overLimit(payment, [maxAmounts]);
    return problem === undefined ? [] : [{ field: `row ${number}:`, problem }];
  });
  if (faults.length > 0)
    throw invalidInput(
      `The file has rows that the limits of the account forbid: ${faults.length}. Nothing was started.`,
      faults.slice(0, MOST_FAULTS),
    );
};

/** Whether an earlier file of a key needed approval as a whole: the send of its row is held until such a file is approved. */
const isHeld = async (ledger: Ledger, runs: ReadonlyArray<Run>): Promise<boolean> => {
  const filed = runs.filter(({ batch }) => batch !== null);
  const logs = await atOnce(
    filed,
    ({ workflowId }) => ledger.decisionsOf(workflowId),
    RECORDED_AT_ONCE,
  );
  return logs.flat().some(({ kind, value }) => kind === "start" && value["needsApproval"] === true);
};

/** A row with its payment, the payee by the mark that the ledger keeps. */
type PayingRow = CheckedRow & { readonly payment: PaymentOf };

const paying = (rows: ReadonlyArray<CheckedRow>, ledger: Ledger): ReadonlyArray<PayingRow> =>
  rows.flatMap((row) => {
    const payment = paymentOf(row.input, ledger);
    return payment === undefined ? [] : [{ ...row, payment }];
  });

const MOST_WARNINGS = 20;

/** Returns each warning about valid rows once, with the numbers of its rows. */
const unlikelyOf = (rows: ReadonlyArray<CheckedRow>): ReadonlyArray<string> => {
  const now = Date.now();
  const found = rows.flatMap(({ input, number }) =>
    warningsOf({ input }, now).map((text) => ({ number, text })),
  );
  return [...Map.groupBy(found, ({ text }) => text)].map(([text, of]) => {
    const numbers = of.slice(0, MOST_WARNINGS).map(({ number }) => number);
    const more = of.length > numbers.length ? ", …" : "";
    return `${of.length === 1 ? "Row" : "Rows"} ${numbers.join(", ")}${more}: ${text}`;
  });
};

/** Returns the rows of an uploaded file that are still to be paid; undefined as long as its upload is not complete. */
const leftOf = async (ledger: Ledger, batch: Batch | undefined) => {
  if (batch === undefined || batch.state === "uploading") return undefined;
  const all = OVER.has(batch.state) ? [] : await ledger.batchCounts(batch.id);
  const counts = all.filter(
    ({ standing, status }) => status !== "covered" && moneyStateOf(standing) === "planned",
  );
  return { counts, rows: counts.reduce((sum, { rows }) => sum + rows, 0) };
};

/**
 * Numbers the rows of a file as the ledger has them: equal rows are the same file, on whatever lines. With other numbers, an
 * interrupted upload would lose a row, and its workflows would not know their rows again.
 */
const asRecorded = async (ledger: Ledger, checked: CheckedFile): Promise<CheckedFile> => {
  const recorded = await ledger.batchRows(checked.batch);
  const numbers = new Map(recorded.map(({ fingerprint, number }) => [fingerprint, number]));
  let last = 0;
  const rows = checked.rows.map((row) => {
    last = numbers.get(row.fingerprint) ?? Math.max(row.number, last + 1);
    return { ...row, number: last };
  });
  return { ...checked, rows };
};

/**
 * Compares a checked file with earlier payments. Nothing is changed.
 *
 * @throws InvalidInput if a key was used for another payment, a row is above the limits of the account, or an option is
 *   invalid.
 */
export const planFile = async (
  connected: Connected,
  given: CheckedFile,
  options: PayFileOptions,
) => {
  actorOf(options);
  checkReason(options.notDuplicate);
  checkBatchOptions(options);
  const { ledger } = connected;
  const checked = await asRecorded(ledger, given);
  const account = accountNamed(connected, checked.account);
  const fingerprints = checked.rows.map(({ fingerprint }) => fingerprint);
  const others = new Map(
    (await ledger.rowsWithFingerprints(account, fingerprints))
      .filter(
        ({ batch, state }) =>
          batch !== checked.batch && state !== "rejected" && state !== "covered",
      )
      .map(({ batch, fingerprint }) => [fingerprint, batch]),
  );
  const fresh = paying(checked.rows, ledger).filter(({ fingerprint }) => !others.has(fingerprint));
  const used = await checkKeys(connected, checked.batch, fresh);
  const similar = await findDuplicates(connected, account, fresh);
  const numbers = new Map(fresh.map(({ number, workflowId }) => [workflowId, number]));
  const warnings = fresh.flatMap(({ number }, at) => {
    const likeText = (one: SimilarPayment) => {
      const own = numbers.get(one.workflowId);
      return own === undefined ? similarText(one) : `row ${own} of this file`;
    };
    const like = (similar[at] ?? []).slice(0, 2).map(likeText).join("; ");
    return like === "" ? [] : [`Row ${number} may be a duplicate of ${like}`];
  });
  const more = warnings.length - MOST_WARNINGS;
  const unnamed = more > 0 ? [`… and ${more} more possible duplicates`] : [];
  const uploaded = await ledger.batch(checked.batch);
  const left = await leftOf(ledger, uploaded);
  if (left === undefined) await checkLimits(ledger, account, fresh);
  const sums = sumMoney(left?.counts ?? fresh.map(({ payment }) => payment));
  const earlier = new Map<string, MoneyState>();
  for (const batch of new Set(others.values()))
    for (const row of await ledger.listRows(batch))
      earlier.set(row.fingerprint, moneyStateOf(row.standing));
  return {
    batch: checked.batch,
    /** The type of the workflow that each row starts. */
    type: checked.type,
    rows: checked.rows.length,
    /** Rows that are still to be paid, and their sums: of a file that was uploaded before, what is left of it. */
    toPay: left?.rows ?? fresh.length,
    totals: Object.fromEntries(sums.map(({ amount, currency }) => [currency, amount])),
    /** Rows that an earlier batch has, with what it did: they are not paid again. */
    known: checked.rows.flatMap(({ fingerprint, number }) => {
      const batch = others.get(fingerprint);
      return batch === undefined
        ? []
        : [{ number, batch, money: earlier.get(fingerprint) ?? "planned" }];
    }),
    /** Warnings about valid rows, as for one payment. */
    unlikely: unlikelyOf(fresh),
    /** Rows that are likely duplicates of payments under other ids, in words. */
    warnings: [...warnings.slice(0, MOST_WARNINGS), ...unnamed],
    needsApproval:
      left === undefined
        ? (await needSecond(ledger, account, sums, options.approveAbove)) ||
          (await isHeld(ledger, used))
        : uploaded?.state === "reading" || uploaded?.state === "needsApproval",
    /** State of its batch; null if it was not uploaded before. */
    state: uploaded?.state ?? null,
    approvedBy: uploaded?.approvedBy ?? null,
  };
};

/** Describes whom a row pays. The account of a known beneficiary is read by the worker, which has the service's key. */
const describePayee = async (
  { input, payment }: PayingRow,
  account: string,
  ledger: Pick<Ledger, "keyed" | "person">,
): Promise<Pick<BatchRow, "mark" | "shown">> => {
  if ("beneficiary" in input) return describeAccount(input.beneficiary, ledger.keyed);
  if ("cardholder" in input) return { mark: payment.payee, shown: payment.shown };
  if ("card_holder_id" in input) return ledger.person(account, input.card_holder_id);
  return { mark: null, shown: null };
};

const batchRow = async (
  row: PayingRow,
  { account, type }: Pick<Batch, "account" | "type">,
  other: string | undefined,
  ledger: Pick<Ledger, "keyed" | "person">,
): Promise<BatchRow> => {
  const { fingerprint, input, number, payment, workflowId } = row;
  return {
    ...payment,
    number,
    workflowId,
    fingerprint,
    terms: paidBy(type, input, payment).terms ?? "",
    ...(await describePayee(row, account, ledger)),
    state: other === undefined ? "waiting" : "covered",
    message: other === undefined ? null : `Already in ${other}.`,
  };
};

/** Size of a row's input, with its other fields. */
const bytesOf = ({ input }: CheckedRow): number => Buffer.byteLength(JSON.stringify(input)) + 300;

/**
 * Uploads the rows of a checked file as one batch and starts them: each row once, in any number of files. After any
 * failure, also if Temporal's database was lost, anybody may call it again to continue: only Temporal has the inputs of the
 * rows, so nothing else starts their workflows again.
 *
 * @param plan result of `planFile`.
 * @returns the batch as it is now: `needsApproval`, or `approved` if its rows are being started.
 * @throws NotAllowed if somebody else has not finished the upload of the same rows, or likely duplicates have no reason.
 */
export const payFile = async (
  connected: Connected,
  given: CheckedFile,
  plan: FilePlan,
  options: PayFileOptions,
): Promise<Batch> => {
  const { ledger } = connected;
  const checked = await asRecorded(ledger, given);
  const { notDuplicate, approveAbove = null } = options;
  const { warnings } = plan;
  const actor = actorOf(options);
  const { by } = actor;
  const account = accountNamed(connected, checked.account);
  const { batch: id, rows, type } = checked;
  const chunks = inChunks(rows, bytesOf);
  if (warnings.length > 0 && notDuplicate === undefined && plan.state === null)
    throw refused(
      `${warnings.join(". ")}. If these are different ${type === "payout" ? "payments" : "people, or each gets another card"}, give the reason (notDuplicate). Nothing was started.`,
      { action: type === "payout" ? "pay" : "onboard" },
    );
  const reason = notDuplicate ?? null;
  const kept: Omit<KeptOfBatch, "reason"> = { warnings, notDuplicate: reason };
  const file = basename(checked.file);
  const batch = {
    id,
    account,
    type,
    file,
    contentHash: checked.contentHash,
    rows: rows.length,
    chunks: chunks.length,
    details: JSON.stringify(kept),
  };
  const value = { file, rows: rows.length, sums: plan.totals, approveAbove };
  const check = ({ createdBy, state }: Batch) => {
    if (state !== "uploading" || createdBy === by) return;
    throw refused(
      `${createdBy} has not finished the upload of the same rows, ${id}. If it was interrupted, ${createdBy} has to give the file again. Nothing was started.`,
      id,
    );
  };
  const uploading = await beginBatch(connected, batch, { ...actor, reason }, value, check);
  const known = new Map(plan.known.map(({ batch, number }) => [number, batch]));
  const rowOf = (row: PayingRow) => batchRow(row, batch, known.get(row.number), ledger);
  const unsaved = uploading.state === "uploading" ? paying(rows, ledger) : [];
  let saved = 0;
  let isRead = true;
  for (const part of chunksOf(unsaved, SAVED_AT_ONCE)) {
    const saving = await atOnce(part, rowOf, RECORDED_AT_ONCE);
    isRead &&= saving.every(({ shown, state }) => shown !== null || state === "covered");
    await ledger.saveRows(id, saving);
    const own = part.filter(({ number }) => !known.has(number));
    const start = ({ input, number, payment, workflowId }: PayingRow) => {
      const run = { account, workflowId, type, batch: id, batchRow: number };
      const facts = {
        by,
        how: actor.how,
        file: { batch: id, row: number, name: file },
        ...(notDuplicate !== undefined && { notDuplicate }),
        ...(plan.needsApproval && { needsApproval: true as const }),
      };
      return ledger.recordStart(...startOf(run, [input], payment, facts));
    };
    await atOnce(own, start, RECORDED_AT_ONCE);
    saved += part.length;
    options.onPart?.(saved, rows.length);
  }
  const mayBe = `${id} may have been uploaded only partly: give the file again to continue`;
  const started = chunks.map((some) =>
    some.map(({ input, number, workflowId }) => ({ input, number, workflowId })),
  );
  await startChunks(connected, uploading, mayBe, started, options);
  const asks = isRead ? "needsApproval" : "reading";
  return endUpload(connected, uploading, plan.needsApproval ? asks : "approved");
};
