import {
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
  PAYMENT_CURRENCY,
  PAYMENT_IDS,
  PAYMENT_STAGE,
  plainIds,
} from "@durable-payments/protocol";
import { type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { unsettledSteps } from "../history/in-doubt.ts";
import { checkSince } from "../since.ts";
import { isComparable, type RunFilter, type RunQuery, runQuery } from "./query.ts";
import { describeRun } from "./state.ts";
import { batchStateOf } from "./batch-state.ts";
import type { StateName } from "./state-name.ts";

/** A run as Temporal's visibility knows it. */
export interface ListedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly state: StateName;
  /** The step that it is at, or ended at; null before its first. */
  readonly stage: string | null;
  /** All that it awaits: `payout:ID`, `cardholder:ID`. */
  readonly awaits: ReadonlyArray<string>;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly currency: string | null;
  /** Keys and ids by which it can be found. */
  readonly paymentIds: ReadonlyArray<string>;
  /** The batch that it belongs to. */
  readonly batch: string | null;
}

/** Keys and ids by which a run can be found. */
export const idsOf = ({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): ReadonlyArray<string> =>
  plainIds(typedSearchAttributes.get(PAYMENT_IDS) ?? []);

const listedRun = async (temporal: Temporal, run: WorkflowExecutionInfo): Promise<ListedRun> => {
  const { closeTime, runId, startTime, type, typedSearchAttributes, workflowId } = run;
  return {
    workflowId,
    runId,
    type,
    state: await batchStateOf(temporal, run),
    stage: typedSearchAttributes.get(PAYMENT_STAGE) ?? null,
    // A run that has ended keeps what it awaited last.
    awaits: closeTime === undefined ? (typedSearchAttributes.get(PAYMENT_AWAITS) ?? []) : [],
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? null,
    currency: typedSearchAttributes.get(PAYMENT_CURRENCY) ?? null,
    paymentIds: idsOf(run),
    batch: typedSearchAttributes.get(PAYMENT_BATCH) ?? null,
  };
};

const PAGE = 200;
const DESCRIBED_AT_ONCE = 16;

const isEnded = ({ status }: WorkflowExecutionInfo): boolean =>
  status.name !== "RUNNING" && status.name !== "COMPLETED" && status.name !== "PAUSED";

/** Whether a run was reset since, or started anew: then another run of its id has how it stands. */
const isSuperseded = async ({ client }: Temporal, run: WorkflowExecutionInfo): Promise<boolean> => {
  if (!isEnded(run)) return false;
  try {
    const latest = await client.workflow.getHandle(run.workflowId).describe();
    return latest.runId !== run.runId;
  } catch (error) {
    // Visibility may still list a run whose retention is over.
    if (error instanceof WorkflowNotFoundError) return true;
    // One that cannot be read hides none of the others.
    if (isNoAnswer(error)) throw error;
    return false;
  }
};

const stillCurrent = async (
  temporal: Temporal,
  runs: ReadonlyArray<WorkflowExecutionInfo>,
): Promise<ReadonlyArray<ListedRun>> => {
  const superseded = await Promise.all(runs.map((run) => isSuperseded(temporal, run)));
  const current = runs.filter((_, index) => superseded[index] !== true);
  return Promise.all(current.map((run) => listedRun(temporal, run)));
};

/**
 * List the runs that a filter finds, page by page: those that run first, then the latest to end. Of the
 * runs of one workflow id only the latest counts, so that one that was repaired is not listed as
 * failed. Temporal lists a new run, or a new state, after about a second.
 *
 * @param temporal the connection of `withTemporal`.
 * @param filter which runs; `standing: []` finds them however they stand.
 * @returns the runs one after the other, in the memory of a page of 200.
 * @throws InvalidInput where `since` is no time.
 * @example
 * for await (const run of listRuns(temporal, { standing: ["failed"], since: new Date("2026-11-01") })) {
 *   console.log(run.workflowId, run.stage);
 * }
 */
export async function* listRuns(temporal: Temporal, filter: RunFilter): AsyncGenerator<ListedRun> {
  if (filter.since !== undefined) checkSince(filter.since);
  for await (const run of listCurrentRuns(temporal, filter)) {
    if (!filter.standing.includes("inDoubt") || (await isInDoubt(temporal, run))) yield run;
  }
}

const isInDoubt = async (temporal: Temporal, { workflowId }: ListedRun): Promise<boolean> => {
  try {
    return (await unsettledSteps(temporal, await describeRun(temporal, workflowId))).length > 0;
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    // Nobody can read that it is settled.
    return true;
  }
};

/** What to query for a filter; undefined where there is no run of the id that it names. */
const queryOf = async (
  { client }: Temporal,
  { find, ...filter }: RunFilter,
): Promise<RunQuery | undefined> => {
  if (find === undefined || isComparable(find)) return { find, ...filter };
  try {
    return { ...filter, runId: (await client.workflow.getHandle(find).describe()).runId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

async function* listCurrentRuns(temporal: Temporal, filter: RunFilter): AsyncGenerator<ListedRun> {
  const wanted = await queryOf(temporal, filter);
  if (wanted === undefined) return;
  const found = temporal.client.workflow.list({ query: runQuery(wanted), pageSize: PAGE });
  let chunk: Array<WorkflowExecutionInfo> = [];
  for await (const run of found) {
    chunk.push(run);
    if (chunk.length < DESCRIBED_AT_ONCE) continue;
    yield* await stillCurrent(temporal, chunk);
    chunk = [];
  }
  yield* await stillCurrent(temporal, chunk);
}
