import { ActivityFailure, type Client, WorkflowFailedError } from "@temporalio/client";
import type { PlannedRun } from "./planned-runs.ts";
import { callUntilAnswered } from "./temporal.ts";
import type { World } from "./world.ts";

/** How a run ended, as the Temporal server tells it. */
export type Ending =
  | { readonly status: "open" }
  | { readonly status: "completed"; readonly result: unknown }
  | {
      readonly status: "failed";
      /** The type of the failure at the bottom: `Refused`, `Abandoned`, … */
      readonly type: string;
      readonly message: string;
      /** The operation that was refused, where it was one. */
      readonly operation: string | undefined;
    };

/** A run's ending, with the ids and keys by which the run can be found. */
export interface EndedRun {
  readonly ending: Ending;
  readonly ids: readonly string[];
}

const operationIn = (details: unknown): string | undefined => {
  if (!Array.isArray(details)) return undefined;
  // The activities put the one error that the client gave there (packages/activities/src/failures.ts).
  const [detail] = details as readonly unknown[];
  return typeof detail === "object" && detail !== null && "operation" in detail
    ? String(detail.operation)
    : undefined;
};

const failureOf = (error: unknown): Ending => {
  let cause = error instanceof WorkflowFailedError ? error.cause : error;
  while (cause instanceof ActivityFailure && cause.cause !== undefined) cause = cause.cause;
  const type = cause instanceof Error && "type" in cause ? String(cause.type) : "";
  return {
    status: "failed",
    type,
    message: cause instanceof Error ? cause.message : String(cause),
    operation:
      cause instanceof Error && "details" in cause ? operationIn(cause.details) : undefined,
  };
};

const read = async (client: Client, workflowId: string): Promise<EndedRun> => {
  const handle = client.workflow.getHandle(workflowId);
  // Not by visibility, which lags.
  const { status, typedSearchAttributes } = await handle.describe();
  const found = typedSearchAttributes.getAll().find(({ key }) => key.name === "PaymentIds")?.value;
  const ids = Array.isArray(found) ? found.map(String) : [];
  if (status.name === "RUNNING") return { ending: { status: "open" }, ids };
  try {
    return { ending: { status: "completed", result: await handle.result() }, ids };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { ending: failureOf(error), ids };
  }
};

/** How each run ended, by workflow id; open where the server did not tell before it was over. */
export const readEndings = async (
  world: World,
  runs: readonly PlannedRun[],
  over: AbortSignal,
): Promise<ReadonlyMap<string, EndedRun>> => {
  const endings = new Map<string, EndedRun>();
  for (const { workflowId } of runs) {
    const ended = await callUntilAnswered(world, over, (client) => read(client, workflowId));
    endings.set(workflowId, ended ?? { ending: { status: "open" }, ids: [] });
  }
  return endings;
};
