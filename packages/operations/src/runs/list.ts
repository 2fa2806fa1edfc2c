import { PAYMENT_IDS } from "@durable-payments/protocol";
import { type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import { checkOptions } from "../acting.ts";
import { invalidInput, NotFound } from "../errors.ts";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { openDoubts } from "../history/in-doubt.ts";
import { checkSince } from "../since.ts";
import { isSuperseded, type ListedRun, readListedRun } from "./listed-run.ts";
import { isComparable, type RunFilter, type RunQuery, runQuery } from "./query.ts";
import { describeRun } from "./state.ts";

const PAGE = 200;
const READ_AT_ONCE = 16;

/** Most runs whose ids are compared where only the beginning of one is given: the latest ones. */
const MOST_COMPARED = 10_000;

/**
 * List the runs that a filter finds, page by page: those that run first, then the latest to end. Of the
 * runs of one workflow id only the latest counts, so that one that was repaired is not listed as
 * failed; but a run in doubt is listed as such until that is settled, whatever began after it. Temporal lists a new run, or a new state, after about a second.
 *
 * @param temporal the connection of `withTemporal`.
 * @param filter which runs; `standing: []` finds them however they stand.
 * @returns the runs one after the other, in the memory of a page of 200.
 * @throws InvalidInput where `since` is no time.
 * @example
 * for await (const run of listRuns(temporal, { standing: ["failed"], since: new Date("2026-11-01") })) {
 *   console.log(run.workflowId, run.failure?.message);
 * }
 */
export async function* listRuns(temporal: Temporal, filter: RunFilter): AsyncGenerator<ListedRun> {
  // A caller without types can give anything.
  const standing: unknown = checkOptions(filter).standing;
  if (!Array.isArray(standing)) throw invalidInput("How runs stand (standing) must be a list.");
  if (filter.since !== undefined) checkSince(filter.since);
  let found: Array<WorkflowExecutionInfo> = [];
  for await (const run of findRuns(temporal, filter)) {
    found.push(run);
    if (found.length < READ_AT_ONCE) continue;
    yield* await readCurrent(temporal, filter, found);
    found = [];
  }
  yield* await readCurrent(temporal, filter, found);
}

/** Those of the runs that are the latest of their id; where those in doubt are asked for, all that are. */
const readCurrent = async (
  temporal: Temporal,
  { standing }: RunFilter,
  found: ReadonlyArray<WorkflowExecutionInfo>,
): Promise<ReadonlyArray<ListedRun>> => {
  const listed = await Promise.all(
    found.map(async (run) => {
      if (!standing.includes("inDoubt")) {
        return (await isSuperseded(temporal, run)) ? [] : [await readListedRun(temporal, run)];
      }
      const doubt = await readDoubt(temporal, run);
      return doubt === "none" ? [] : [{ ...(await readListedRun(temporal, run)), ...doubt }];
    }),
  );
  return listed.flat();
};

/** Whether a run is in doubt still, and an earlier one of its id. */
const readDoubt = async (
  temporal: Temporal,
  { runId, workflowId }: Pick<ListedRun, "runId" | "workflowId">,
): Promise<Pick<ListedRun, "isEarlier"> | "none"> => {
  try {
    const run = await describeRun(temporal, workflowId, runId);
    const { inDoubt, standing } = await openDoubts(temporal, run);
    if (inDoubt.length === 0) return "none";
    return standing === "earlier" ? { isEarlier: true } : {};
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    // Visibility may still list a run whose retention is over.
    if (error instanceof NotFound) return "none";
    // Nobody can read that it is settled.
    return {};
  }
};

/** Find runs by a filter; by a part of an id only where no run has that whole id. */
async function* findRuns(
  temporal: Temporal,
  filter: RunFilter,
): AsyncGenerator<WorkflowExecutionInfo> {
  const { find, ...others } = filter;
  const { workflow } = temporal.client;
  const wanted = await queryOf(temporal, filter);
  if (wanted === undefined) return;
  let isFound = false;
  for await (const run of workflow.list({ query: runQuery(wanted), pageSize: PAGE })) {
    isFound = true;
    yield run;
  }
  if (isFound || find === undefined || !isComparable(find)) return;
  const byId = new Set<string>();
  const begin = runQuery({ ...others, begin: find });
  for await (const run of workflow.list({ query: begin, pageSize: PAGE })) {
    byId.add(run.runId);
    yield run;
  }
  // Temporal finds no part of a value in a list: they are compared here.
  let compared = 0;
  for await (const run of workflow.list({ query: runQuery(others), pageSize: 1_000 })) {
    if (compared === MOST_COMPARED) return;
    compared += 1;
    const ids = run.typedSearchAttributes.get(PAYMENT_IDS) ?? [];
    if (!byId.has(run.runId) && ids.some((id) => id.startsWith(find))) yield run;
  }
}

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
