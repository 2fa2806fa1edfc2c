import type { Client } from "@temporalio/client";
import type proto from "@temporalio/proto";

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
