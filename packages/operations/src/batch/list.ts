import { isRecord } from "@durable-payments/api-core/values";
import { queryText, WORKFLOW } from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { countAt, readBatchContent } from "../runs/batch-content.ts";
import { endingOf, readCloseEvent } from "../history/close-event.ts";
import { listedStateOf } from "../runs/listed-run.ts";
import { orNull } from "../runs/or-null.ts";
import { readBatchPayouts } from "../runs/payment.ts";
import type { StateName } from "../runs/state-name.ts";
import { checkSince } from "../since.ts";
import { countRuns, type RunCounts, starterOf } from "./report.ts";
import { readSentTotals, type SentTotals } from "./sent-totals.ts";

/** A batch as it is listed. Times are ISO 8601. */
export interface ListedBatch extends SentTotals {
  readonly workflowId: string;
  readonly runId: string;
  /** Name of the file that was imported; null for a batch that does not say it. */
  readonly file: string | null;
  readonly rows: number;
  /** How the payouts of its rows stand; rows that other files pay are not counted. */
  readonly runs: RunCounts;
  /** Rows that other files pay; null until it has ended. */
  readonly known: number | null;
  readonly state: StateName;
  readonly startedBy: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
}

const listedBatch = async (
  temporal: Temporal,
  run: WorkflowExecutionInfo,
): Promise<ListedBatch> => {
  const { closeTime, runId, startTime, workflowId } = run;
  // It hides none of the others.
  const content = await orNull(readBatchPayouts(temporal, run));
  const { file, rows, totals } = content ?? readBatchContent(undefined);
  const [state, sent, runs, ending] = await Promise.all([
    listedStateOf(temporal, run),
    readSentTotals(temporal, workflowId, totals),
    countRuns(temporal, workflowId),
    closeTime && orNull(readCloseEvent(temporal, run)),
  ]);
  const { result } = endingOf(ending ?? undefined);
  return {
    workflowId,
    runId,
    file,
    rows,
    ...sent,
    runs,
    known: isRecord(result) ? countAt(result, "known") : null,
    state,
    startedBy: starterOf(run),
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? null,
  };
};

const READ_AT_ONCE = 8;

/**
 * List the batches, each by its latest run: those that are under way first, then the latest to end.
 *
 * @param temporal the connection of `withTemporal`.
 * @param filter `since`: started or ended since then.
 * @returns the batches one after the other.
 * @throws InvalidInput where `since` is no time.
 * @example
 * for await (const { file, runs } of listBatches(temporal)) {
 *   console.log(file, runs.completed, runs.failed);
 * }
 */
export async function* listBatches(
  temporal: Temporal,
  { since }: { readonly since?: Date | undefined } = {},
): AsyncGenerator<ListedBatch> {
  if (since !== undefined) checkSince(since);
  const time = since && queryText(since.toISOString());
  const query = [
    `WorkflowType = ${queryText(WORKFLOW.payoutBatch)} AND ExecutionStatus != "ContinuedAsNew"`,
    ...(time === undefined
      ? []
      : [`(StartTime >= ${time} OR (ExecutionStatus != "Running" AND CloseTime >= ${time}))`]),
  ].join(" AND ");
  const seen = new Set<string>();
  let found: Array<WorkflowExecutionInfo> = [];
  const read = () => Promise.all(found.map((run) => listedBatch(temporal, run)));
  for await (const run of temporal.client.workflow.list({ query, pageSize: 200 })) {
    // A file that was imported once more has a run for each time.
    if (seen.has(run.workflowId)) continue;
    seen.add(run.workflowId);
    found.push(run);
    if (found.length < READ_AT_ONCE) continue;
    yield* await read();
    found = [];
  }
  yield* await read();
}
