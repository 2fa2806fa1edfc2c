import type { Client } from "@temporalio/client";
import type proto from "@temporalio/proto";
import { isNotFound } from "./values.ts";

/** A run as Temporal's visibility stores it. */
export type ListedRun = proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** How a run has ended. */
export type EndOfRun = "succeeded" | "failed" | "cancelled" | "terminated" | "timedOut";

/** By Temporal's codes of a run's status. Any other run is open, or continued in a newer one. */
const ENDS: Readonly<Record<number, EndOfRun>> = {
  2: "succeeded",
  3: "failed",
  4: "cancelled",
  5: "terminated",
  7: "timedOut",
};

/** Returns how a run has ended; null if it is open, or continued in a newer one. */
export const endStateOf = ({ status }: Pick<ListedRun, "status">): EndOfRun | null =>
  ENDS[status ?? 0] ?? null;

/** Temporal's code of a run that its own Workflow Pause stops: it is open. */
const PAUSED = 8;

/** Describes a run of a workflow id, by default the latest; undefined if Temporal knows none. */
export const findRun = async (
  { options: { namespace }, workflowService }: Client,
  workflowId: string,
  runId?: string,
) => {
  const execution = { workflowId, ...(runId !== undefined && { runId }) };
  try {
    const raw = await workflowService.describeWorkflowExecution({ namespace, execution });
    const info = raw.workflowExecutionInfo ?? {};
    const latest = info.execution?.runId ?? "";
    return {
      raw,
      runId: latest,
      /** First run of its chain: a continued, reset or repeated run keeps it. */
      firstRunId: info.firstRunId || latest,
      type: info.type?.name ?? "",
      state: endStateOf(info) ?? ("running" as const),
      isPaused: Number(info.status) === PAUSED,
    };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** Runs of a page; what a list costs grows with the pages that its caller takes. */
const PAGE_SIZE = 500;

/**
 * Lists runs by a visibility query: open runs first, then the latest to end. The SDK's own list decodes each memo, and
 * the starter of a run can write any bytes into it. So one memo that cannot be decoded would end the list for all other
 * runs: nobody would be notified, and no write of an ended run would be reconciled. Here nothing is decoded.
 *
 * @throws ServiceError or a gRPC error if Temporal does not respond.
 */
export async function* listedRuns(
  { options: { namespace }, workflowService }: Client,
  query: string,
): AsyncGenerator<ListedRun> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize: PAGE_SIZE,
      ...(nextPageToken && { nextPageToken }),
    });
    yield* page.executions;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken?.length);
}
