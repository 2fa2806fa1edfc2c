import { isRunOfRow } from "@durable-payments/activities/row-run";
import { type BatchRow, queryTexts } from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import type { Temporal } from "../connection/temporal.ts";

/** A query of this many ids is short enough for every database. */
const IDS_IN_A_QUERY = 100;

const listOf = async (
  { client }: Temporal,
  ids: ReadonlyArray<string>,
): Promise<ReadonlyArray<WorkflowExecutionInfo>> => {
  const runs: Array<WorkflowExecutionInfo> = [];
  const query = `WorkflowId IN ${queryTexts(ids)}`;
  for await (const run of client.workflow.list({ query, pageSize: 1_000 })) runs.push(run);
  return runs;
};

/** Find the latest run of each workflow id that has one. */
export const findRuns = async (
  temporal: Temporal,
  ids: ReadonlyArray<string>,
): Promise<ReadonlyMap<string, WorkflowExecutionInfo>> => {
  const found = new Map<string, WorkflowExecutionInfo>();
  const lists: Array<ReadonlyArray<string>> = [];
  for (let from = 0; from < ids.length; from += IDS_IN_A_QUERY) {
    lists.push(ids.slice(from, from + IDS_IN_A_QUERY));
  }
  for (const runs of await Promise.all(lists.map((list) => listOf(temporal, list)))) {
    for (const run of runs) {
      const other = found.get(run.workflowId);
      if (other === undefined || other.startTime < run.startTime) found.set(run.workflowId, run);
    }
  }
  return found;
};

const ASKED_AT_ONCE = 16;

/**
 * Find the rows whose runs pay what they pay.
 *
 * @param found the latest runs of their ids.
 * @returns those runs, by workflow id: not what somebody has started under the id of a row for something else.
 */
export const runsOfRows = async (
  { client }: Temporal,
  rows: ReadonlyArray<BatchRow>,
  found: ReadonlyMap<string, WorkflowExecutionInfo>,
): Promise<ReadonlyMap<string, WorkflowExecutionInfo>> => {
  const compared = Effect.forEach(
    rows,
    (row) =>
      Effect.promise(async () => {
        const run = found.get(row.workflowId);
        return run !== undefined && (await isRunOfRow(client, row, run)) ? [run] : [];
      }),
    { concurrency: ASKED_AT_ONCE },
  );
  const runs = (await Effect.runPromise(compared)).flat();
  return new Map(runs.map((run) => [run.workflowId, run]));
};
