import { readAnswer } from "@durable-payments/activities/answers";
import { readChunks } from "@durable-payments/activities/batch-chunks";
import { canonicalJson, hashOfRows } from "@durable-payments/activities/payout-content";
import { isRecord } from "@durable-payments/api-core/values";
import {
  askingStages,
  type BatchProgress,
  batchProgressQuery,
  type BatchRow,
  chunkId,
  PAYMENT_BATCH,
  PAYMENT_STAGE,
  queryText,
  queryTexts,
  type RunEndings,
  STEP,
  textAt,
  UNFINISHED,
  WORKFLOW,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Result from "effect/Result";
import type { Temporal } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import { Unreadable } from "../history/events.ts";
import type { Failure } from "../history/failure.ts";
import { readInput } from "../history/read-input.ts";
import { awaitEnding, describeRun } from "../runs/state.ts";
import { isOpenState, type StateName, stateNameOf } from "../runs/state-name.ts";
import { countAt, readBatchContent } from "../runs/batch-content.ts";
import { batchStateOf, readBatchCommands } from "../runs/batch-state.ts";
import { findRuns } from "./latest-runs.ts";
import { readSentTotals, type SentTotals } from "./sent-totals.ts";

/** How many of the payout runs of a batch stand how. */
export interface RunCounts extends RunEndings {
  /** They wait for a person. */
  readonly attention: number;
  /** Their payout was created, and its completion is awaited. */
  readonly waiting: number;
  /** They have something left to send. */
  readonly running: number;
}

/** How a batch stands. */
export interface BatchReport extends SentTotals {
  readonly workflowId: string;
  readonly runId: string;
  readonly state: StateName;
  readonly stage: string | null;
  readonly startedBy: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
  /** Name of the file that was imported; null for a batch that does not say it. */
  readonly file: string | null;
  readonly rows: number;
  /** Name of the account that pays; left out where it has none. */
  readonly account?: string;
  /** Its own account of its rows; null where no worker gives it. */
  readonly progress: BatchProgress | null;
  readonly runs: RunCounts;
  /** Rows whose runs other files started; null where they were not counted. */
  readonly others: RunCounts | null;
  /** Why it ended before its runs were started. */
  readonly failure?: Failure;
}

/** Who started a batch, as its memo says it. */
export const starterOf = ({ memo }: Pick<WorkflowExecutionInfo, "memo">): string =>
  textAt(memo, "startedBy") ?? "somebody who is not named";

/** What a batch was started with: its memo shows what anybody wrote, and its input what it pays. */
const inputOf = async (
  temporal: Temporal,
  { runId, type, workflowId }: Pick<WorkflowExecutionInfo, "runId" | "type" | "workflowId">,
): Promise<unknown> => {
  if (type === WORKFLOW.payoutBatch) return readInput(temporal, { workflowId, runId });
  throw refused(`${workflowId} is a run of ${type}, not a batch.`, {
    operation: "describe",
    workflowId,
  });
};

const BROKEN = 'ExecutionStatus IN ("Failed", "Canceled", "Terminated", "TimedOut")';

/** Runs that ended badly and were retried since, by how they ended: their rows count as they stand now. */
const countRetried = async (
  temporal: Temporal,
  ofBatch: string,
): Promise<ReadonlyMap<StateName, number>> => {
  const broken: Array<WorkflowExecutionInfo> = [];
  const query = `${ofBatch} AND ${BROKEN}`;
  for await (const run of temporal.client.workflow.list({ query, pageSize: 1_000 })) {
    broken.push(run);
  }
  const ids = [...new Set(broken.map(({ workflowId }) => workflowId))];
  const latest = await findRuns(temporal, ids);
  const retried = new Map<StateName, number>();
  for (const run of broken) {
    if (latest.get(run.workflowId)?.runId === run.runId) continue;
    const state = stateNameOf(run);
    retried.set(state, (retried.get(state) ?? 0) + 1);
  }
  return retried;
};

/** Count the payout runs of a batch by how they stand: one that was retried counts as it stands now. */
export const countRuns = async (temporal: Temporal, batch: string): Promise<RunCounts> => {
  const { workflow } = temporal.client;
  const ofBatch = `${PAYMENT_BATCH.name} = ${queryText(batch)}`;
  const count = (condition: string) => workflow.count(`${ofBatch} ${condition}`);
  const STAGE = PAYMENT_STAGE.name;
  const open = `AND ExecutionStatus = "Running" AND ${STAGE}`;
  const [{ groups }, unfinished, attention, waiting] = await Promise.all([
    count("GROUP BY ExecutionStatus"),
    count(`AND ExecutionStatus = "Completed" AND ${STAGE} = ${queryText(UNFINISHED)}`),
    count(`${open} IN ${queryTexts(askingStages)}`),
    count(`${open} = ${queryText(STEP.awaitPayout)}`),
  ]);
  const by = new Map(groups.map(({ count, groupValues }) => [String(groupValues[0]), count]));
  const of = (status: string) => by.get(status) ?? 0;
  const isAnyBroken = ["Failed", "Canceled", "Terminated", "TimedOut"].some((name) => by.has(name));
  const retried: ReadonlyMap<StateName, number> = isAnyBroken
    ? await countRetried(temporal, ofBatch)
    : new Map();
  // They are counted one after the other.
  const broken = (status: string, state: StateName) =>
    Math.max(0, of(status) - (retried.get(state) ?? 0));
  return {
    completed: Math.max(0, of("Completed") - unfinished.count),
    unfinished: unfinished.count,
    failed: broken("Failed", "failed"),
    cancelled: broken("Canceled", "cancelled"),
    terminated: broken("Terminated", "terminated"),
    timedOut: broken("TimedOut", "timedOut"),
    attention: attention.count,
    waiting: waiting.count,
    running: Math.max(0, of("Running") - attention.count - waiting.count),
  };
};

const PATIENCE_MS = 2_000;

const askProgress = async (
  { client, connection }: Temporal,
  workflowId: string,
): Promise<BatchProgress | null> => {
  try {
    const answer = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      client.workflow.getHandle(workflowId).query<unknown>(batchProgressQuery.name),
    );
    return Result.getOrNull(readAnswer.batchProgress(answer));
  } catch {
    return null;
  }
};

/** A batch counts the rows of a chunk when it is through with it: those that have a run were started before. */
const withRuns = (progress: BatchProgress | null, runs: RunCounts): BatchProgress | null => {
  if (progress === null) return null;
  const { conflicting, known, rejected = 0, rows } = progress;
  const counts: ReadonlyArray<number> = Object.values(runs);
  const started = Math.max(
    progress.started,
    counts.reduce((sum, count) => sum + count, 0),
  );
  const done = Math.min(rows, Math.max(progress.done, started + known + conflicting + rejected));
  return { ...progress, started, done };
};

/** What its result reports of its rows, where no worker can be asked; null where that does not decode. */
const progressOf = (result: unknown): BatchProgress | null => {
  const read = readAnswer.batchResult(result);
  if (Result.isFailure(read)) return null;
  const { conflicting, known, notStarted, rejected, rows, started } = read.success;
  const done = rows - notStarted;
  return { rows, done, started, known, conflicting, ...(rejected !== undefined && { rejected }) };
};

/**
 * The rows of a batch that ended before it could report them: it was terminated, say. Those that
 * have a run of it are counted; of a chunk that was under way it is not known here which rows another
 * file had paid.
 */
const progressOfEnded = async (
  { client }: Temporal,
  batch: string,
  rows: number,
  last: BatchProgress | null,
): Promise<BatchProgress> => {
  const ids = new Set<string>();
  // A run that was retried is there once more.
  const query = `${PAYMENT_BATCH.name} = ${queryText(batch)}`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 1_000 })) {
    ids.add(workflowId);
  }
  const { conflicting = 0, known = 0, ...commands } = last ?? {};
  const started = ids.size;
  const done = Math.min(rows, started + known + conflicting);
  return { ...commands, rows, done, started, known, conflicting };
};

/**
 * Report how a batch stands: how many of its rows are paid, wait, ask or have failed.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the batch, `payouts/…`.
 * @returns counts of rows and runs, and totals by currency as decimal strings, as it is sent now.
 * @throws NotFound where there is no run of that id; Refused where it is no batch.
 * @example
 * const report = await reportBatch(temporal, checked.batch);
 * if (!isEachPaid(report)) console.log(report.runs.failed, report.runs.attention);
 */
export const reportBatch = async (temporal: Temporal, workflowId: string): Promise<BatchReport> => {
  const description = await describeRun(temporal, workflowId);
  const { closeTime, runId, startTime, typedSearchAttributes } = description;
  const input = await inputOf(temporal, description).catch((error: unknown) => {
    // All else that is known of it is reported.
    if (error instanceof Unreadable) return undefined;
    throw error;
  });
  const { account, file, rows, totals } = readBatchContent(input);
  const [answered, runs, state, sent, ending] = await Promise.all([
    askProgress(temporal, workflowId),
    countRuns(temporal, workflowId),
    batchStateOf(temporal, description),
    readSentTotals(temporal, workflowId, totals),
    isOpenState(stateNameOf(description))
      ? undefined
      : awaitEnding(temporal, { workflowId, runId }),
  ]);
  const isBroken = ending !== undefined && ending.state !== "completed";
  const result = ending?.state === "completed" ? progressOf(ending.result) : null;
  const progress = isBroken
    ? await progressOfEnded(temporal, workflowId, rows, answered)
    : withRuns(answered ?? result, runs);
  const commands = state === "cancelled" ? await readBatchCommands(temporal, description) : {};
  return {
    workflowId,
    runId,
    state,
    stage: typedSearchAttributes.get(PAYMENT_STAGE) ?? null,
    startedBy: starterOf(description),
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? null,
    file,
    ...(account !== undefined && { account }),
    rows,
    ...sent,
    progress: progress && { ...progress, ...commands },
    runs,
    others: null,
    ...(isBroken && { failure: ending.failure }),
  };
};

/**
 * Count the runs that ended without it being known that they have paid.
 *
 * @param counts of a `BatchReport`.
 * @returns how many were cancelled, failed, were terminated, timed out or ended unfinished.
 */
export const unpaid = ({
  cancelled,
  failed,
  terminated,
  timedOut,
  unfinished,
}: RunCounts): number => cancelled + failed + terminated + timedOut + unfinished;

/**
 * Check whether a batch has ended, and each of its rows is known to be paid.
 *
 * @param report what `reportBatch` or `withRows` returns.
 * @returns false also where a row was rejected, or its id belongs to another payment.
 */
export const isEachPaid = ({ others, progress, rows, runs, state }: BatchReport): boolean =>
  state === "completed" &&
  progress?.done === rows &&
  progress.conflicting === 0 &&
  progress.rejected === undefined &&
  unpaid(runs) === 0 &&
  (others === null || unpaid(others) === 0);

/**
 * Read the rows of a batch, chunk by chunk, as they are kept in Temporal.
 *
 * @param temporal the connection of `withTemporal`.
 * @param batch its workflow id.
 * @returns the rows, in their order in the file.
 * @throws NotFound where there is no such batch; Refused where somebody has replaced a chunk of it.
 */
export async function* rowsOfBatch(
  temporal: Temporal,
  batch: string,
): AsyncGenerator<ReadonlyArray<BatchRow>> {
  const run = await describeRun(temporal, batch);
  const input = await inputOf(temporal, run);
  const chunks = countAt(input, "chunks");
  const hashes: unknown = isRecord(input) ? input["hashes"] : undefined;
  let chunk = 0;
  for await (const rows of readChunks(temporal.client, batch, chunks)) {
    const hash: unknown = Array.isArray(hashes) ? hashes[chunk] : undefined;
    chunk += 1;
    // A batch of an earlier version has no hashes.
    if (hash !== undefined && hashOfRows(rows.map((row) => canonicalJson(row))) !== hash) {
      throw refused(
        `${chunkId(batch, chunk)} does not hold the rows that ${batch} was started for: somebody has replaced it, and what became of them is not known by it.`,
        { operation: "describeBatch", workflowId: batch },
      );
    }
    yield rows;
  }
}
