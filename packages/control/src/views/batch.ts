import {
  type Batch,
  type BatchCount,
  batchLogId,
  type BatchRowStatus,
  endAmong,
  isNotPaid,
  type Ledger,
  moneyStateOf,
  OPEN_STATUSES,
  type Pause,
} from "@durable-payments/ledger";
import { recordedFailure } from "@durable-payments/activities";
import { atOnce, WORKFLOW } from "@durable-payments/protocol";
import { chunksOf } from "effect/Array";
import { keptOf } from "../actions/batch/batch.ts";
import type { NextAction } from "../errors.ts";
import { noBatch, retryOf } from "../facts/named.ts";
import { readNames } from "../facts/payees.ts";
import { decisionsOn } from "../rules/approval.ts";
import { type BatchRowView, isFinalRow, rowView } from "../rules/batch-rows.ts";
import { type FileListing, listingOf } from "../rules/listing.ts";
import { whyNot } from "../rules/retry-plan.ts";
import { MONEY_STATES, pauseOf, type Status, STATUSES, sumMoney } from "../rules/run-view.ts";
import { stopText } from "../rules/standing.ts";

/** Rows of a batch with the same outcome, and their money. */
export type BatchTotal = ReturnType<typeof totalsOf>[number] & {
  /** The status of the runs, in a repair. */
  readonly status?: BatchRowStatus;
};

/** A batch with the outcome of its rows. */
export interface BatchView extends Omit<Batch, "chunks" | "details" | "notifyOf"> {
  readonly totals: ReadonlyArray<BatchTotal>;
  readonly pausedBy: string | null;
  /** Whether each row is paid, by this file or an earlier one, or each run of a repair has succeeded, by it or otherwise; `open` until each has an outcome. */
  readonly outcome: "open" | "paid" | "notPaid";
}

/** A batch with the first 100 rows that it does not pay. */
export type BatchDetails = Awaited<ReturnType<typeof batchOfId>>;

const MOST_NAMED = 100;

/** Whether rows are not paid by this batch: each such row is named with the reason. */
const isUnpaid = ({ standing, status }: BatchCount): boolean =>
  status === "covered" || isNotPaid(standing);

const totalsOf = (counts: ReadonlyArray<BatchCount>) =>
  // Another file has covered rows.
  [false, true].flatMap((isCovered) =>
    MONEY_STATES.flatMap((money) => {
      const of = counts.filter(
        (one) => (one.status === "covered") === isCovered && moneyStateOf(one.standing) === money,
      );
      const rows = of.reduce((sum, one) => sum + one.rows, 0);
      // As it was sent, or is to be sent.
      return of.length === 0 ? [] : [{ money, isCovered, rows, sums: sumMoney(of) }];
    }),
  );

/**
 * The rows of a repair by the status of their runs, and the states of their money: a run that was made may fail again before it
 * pays, or after a part of its payments. Each run is counted once.
 */
const repairTotalsOf = (counts: ReadonlyArray<BatchCount>) =>
  [...Map.groupBy(counts, ({ status }) => status)].flatMap(([status, ofStatus]) =>
    totalsOf(ofStatus).map((total) => ({ ...total, status })),
  );

/** States in which no row was started. */
const BEFORE: ReadonlyArray<Batch["state"]> = ["uploading", "reading", "needsApproval"];

/** Whether the run of a row of a repair has ended, or is not retried. */
const isOverRun = ({ status }: BatchCount): boolean =>
  status !== "notStarted" && !(OPEN_STATUSES as ReadonlySet<string>).has(status);

const UNSUCCESSFUL = STATUSES.filter((status) => status !== "succeeded" && status !== "paused");

const batchOf = async (
  ledger: Ledger,
  { chunks: _chunks, details: _details, notifyOf: _notifyOf, ...batch }: Batch,
) => {
  const [counts, pauses] = await Promise.all([ledger.batchCounts(batch.id), ledger.pauses()]);
  // Rows of a stopped file that another file pays do not keep it open.
  const isStopped = batch.state === "cancelled" || batch.state === "rejected";
  // A step fails before its run: until the end of the run is recorded, no list of failed runs has it.
  const isEnding = ({ standing, status }: BatchCount) =>
    status === "running" && isNotPaid(standing);
  const hasOutcome = (count: BatchCount) =>
    (isFinalRow(count) && !isEnding(count)) || (isStopped && count.status === "covered");
  const isRepair = batch.type === "repair";
  const isOver = isRepair ? isOverRun : hasOutcome;
  /** Whether a run of the repair has one of these statuses: also if it left that run out. */
  const hasRun = async (statuses: Iterable<Status>) =>
    isRepair &&
    (await ledger.listRuns({ repair: batch.id, statuses: [...statuses] }, { limit: 1 })).runs
      .length > 0;
  const isOpen =
    BEFORE.includes(batch.state) ||
    !counts.every(isOver) ||
    (!isStopped && (await hasRun(OPEN_STATUSES)));
  const isPaid = isRepair
    ? !(await hasRun(UNSUCCESSFUL))
    : counts.every(({ standing }) => standing === "completed");
  // A row of a finished file that is retried has no outcome again.
  const isReopened = batch.state === "finished" && isOpen;
  const view: BatchView = {
    ...batch,
    state: isReopened ? "approved" : batch.state,
    totals: isRepair ? repairTotalsOf(counts) : totalsOf(counts),
    outcome: isOpen ? "open" : isPaid ? "paid" : "notPaid",
    pausedBy: pauseOf(pauses, batch.id)?.by ?? null,
  };
  return { counts, pauses, view };
};

/**
 * Lists batches, the newest first, each with the counts of its rows.
 *
 * @param limit most batches.
 */
export const listBatches = async (ledger: Ledger, limit: number) =>
  Promise.all(
    (await ledger.batches({ limit })).map(async (batch) => (await batchOf(ledger, batch)).view),
  );

/** Returns the possible actions for a batch: only those that are not refused. */
const nextOfBatch = (
  { id, outcome, state, type }: BatchView,
  counts: ReadonlyArray<BatchCount>,
  pauses: ReadonlyArray<Pause>,
  listing: FileListing | null,
  canRetry: boolean,
): ReadonlyArray<NextAction> => {
  const next: Array<NextAction> = [];
  if (state === "needsApproval") next.push(...decisionsOn(id, listing?.hash ?? null));
  if (state === "uploading") next.push({ action: "cancel", workflowId: id });
  // A pause of everything is resumed for everything.
  const pause = pauseOf(pauses, id);
  if (pause !== undefined)
    next.push({ action: "resume", ...(pause.scope === "batch" && { workflowId: id }) });
  if (canRetry) next.push(retryOf({ id, type }));
  if (
    type === WORKFLOW.payout &&
    counts.some(({ standing }) => standing === "failed" || standing === "returned")
  )
    next.push({ action: "pay", isNewFile: true });
  if (outcome === "open" && state === "approved" && next.length === 0)
    next.push({ action: "show", workflowId: id, isFollowed: true });
  return next.slice(0, 3);
};

/** Statuses of rows that a retry may still pay. */
const RETRIED: ReadonlySet<BatchRowStatus> = new Set(["failed", "timedOut", "terminated"]);

const isRetried = ({ standing, status }: BatchCount): boolean =>
  RETRIED.has(status) && standing !== "failed" && standing !== "returned";

/** Returns whether a retry may help any failed row: a reason that stays rules a retry out. Of many rows, it may always help one. */
const canRetry = async (
  ledger: Ledger,
  { id, type }: Pick<Batch, "id" | "type">,
  counts: ReadonlyArray<BatchCount>,
): Promise<boolean> => {
  const all = counts.filter(isRetried).reduce((sum, { rows }) => sum + rows, 0);
  if (all === 0 || all > MOST_NAMED || type === "repair") return all > 0;
  const found = await ledger.failedRuns({ batch: id }, MOST_NAMED);
  return found.some(
    ({ rows, run }) =>
      whyNot({
        workflowId: run.workflowId,
        workflowType: run.type,
        state: run.endState ?? "failed",
        failure: recordedFailure(run),
        rows,
        end: undefined,
      }) === undefined,
  );
};

const ASKS: ReadonlyArray<Batch["state"]> = ["reading", "needsApproval"];

/** Reads what a batch pays: the largest rows, or all. */
export const readListing = async (
  ledger: Ledger,
  batch: Pick<Batch, "account" | "id" | "state" | "type">,
  isWhole = false,
): Promise<FileListing> => {
  const [rows, fresh] = await Promise.all([
    ledger.batchRows(batch.id),
    // Once rows are paid, no payee is new. Each cardholder is.
    ASKS.includes(batch.state) && batch.type === WORKFLOW.payout
      ? ledger.newPayees(batch)
      : new Set<number>(),
  ]);
  const own = rows.map(({ batch: _, ...row }) => row);
  return listingOf(own, fresh, isWhole);
};

const READ_AT_ONCE = 500;

/** Reads rows of a batch, each with the outcome of it. The id of a row that never started is free: a newer file may have it. */
const readRowViews = async (
  ledger: Ledger,
  { id, type }: Pick<Batch, "id" | "type">,
  filter: Parameters<Ledger["listRows"]>[1] = {},
): Promise<ReadonlyArray<BatchRowView>> => {
  const rows = await ledger.listRows(id, filter);
  const payees = rows.flatMap(({ namedAs, payee }) => [payee, namedAs]);
  const nameOf = await readNames(ledger, payees);
  const stopped = rows.filter(({ status }) => status === "ended");
  // However the run of a stopped row has ended, the stop order is the reason.
  const stops = new Map(
    await atOnce(stopped, async ({ workflowId }) => {
      const end = endAmong(await ledger.decisionsOf(workflowId));
      return [workflowId, end && stopText(end)] as const;
    }),
  );
  const left = rows.filter(
    ({ run, state }) => state === "rejected" || (state === "covered" && run !== null),
  );
  const failed = new Map(left.map((row) => [row.workflowId, row]));
  const since = new Map<string, string>();
  for (const part of chunksOf([...failed.keys()], READ_AT_ONCE)) {
    for (const one of await ledger.runs({ workflowIds: part })) {
      const { batch, batchRow, runId, status, workflowId } = one;
      const { run: before = null, state } = failed.get(workflowId) ?? {};
      if (before !== null && before !== runId)
        since.set(
          workflowId,
          state === "covered" ? ` Its latest run: ${status}.` : "; it was retried in the meantime",
        );
      else if (before === null && batch !== id)
        since.set(
          workflowId,
          batch === null
            ? `; a newer run of ${workflowId} has it`
            : `; row ${batchRow} of the newer file ${batch} has it`,
        );
    }
  }
  return rows.map((row) => {
    const newer = since.get(row.workflowId);
    const why = stops.get(row.workflowId) ?? row.reason;
    const reason = newer === undefined ? why : `${why ?? "rejected"}${newer}`;
    const group = type === WORKFLOW.onboardCardholder ? "cards" : "payouts";
    return rowView({ ...row, reason }, group, nameOf);
  });
};

const known = async (ledger: Ledger, id: string): Promise<Batch> => {
  const batch = await ledger.batch(id);
  if (batch === undefined) throw await noBatch(ledger, id);
  return batch;
};

/** Reads a batch with the counts of its rows. @throws NotFound if the ledger has no such batch. */
export const readBatch = async (ledger: Ledger, id: string): Promise<BatchView> =>
  (await batchOf(ledger, await known(ledger, id))).view;

/** Returns what is followed of a batch: it is over once each of its rows has an outcome. */
export const progressOfBatch = ({ outcome, pausedBy, state, totals }: BatchView) => ({
  facts: [state, totals, pausedBy, outcome],
  isOver: outcome !== "open",
});

/**
 * Reads one batch, with the rows that it does not pay and their reasons. If it waits for its approval, also with what it
 * pays. It needs only the ledger.
 *
 * @param isWhole whether all of its rows are listed.
 * @throws NotFound if the ledger has no such batch.
 */
export const batchOfId = async (ledger: Ledger, id: string, isWhole = false) => {
  const batch = await known(ledger, id);
  const asks = ASKS.includes(batch.state);
  const [{ counts, pauses, view }, notPaid, listing, listed, decisions] = await Promise.all([
    batchOf(ledger, batch),
    readRowViews(ledger, batch, { isNotPaid: true, limit: MOST_NAMED }),
    asks ? readListing(ledger, batch, isWhole) : null,
    isWhole ? readRowViews(ledger, batch) : null,
    batch.approvedBy === null ? [] : ledger.decisionsOf(batchLogId(id)),
  ]);
  const approvedAt = decisions.findLast(({ kind }) => kind === "approve")?.at ?? null;
  const named = new Set(notPaid.map(({ number }) => number)).size;
  const notNamed = counts.filter(isUnpaid).reduce((left, { rows }) => left + rows, -named);
  const isRetriable = await canRetry(ledger, batch, counts);
  const next = nextOfBatch(view, counts, pauses, listing, isRetriable);
  return {
    ...view,
    ...keptOf(batch),
    /** Rows that it does not pay, with the reason: failed, rejected, came back, or in another file. */
    notPaid,
    /** Such rows beyond these. */
    notNamed,
    /** The rows that it pays; null unless it waits for its approval. */
    listing,
    /** When it was approved: milliseconds since 1970. */
    approvedAt,
    /** Every row, if all rows are asked for. */
    listed,
    next,
  };
};
