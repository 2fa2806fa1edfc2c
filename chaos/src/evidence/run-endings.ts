import { isRecord, messageOf } from "@durable-payments/api-core/values";
import {
  ActivityFailure,
  CancelledFailure,
  type Client,
  TerminatedFailure,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import type { Environment } from "../environment/environment.ts";
import type { PlannedRun } from "../plan/planned-run.ts";

/** How a run ended, as Temporal has it. */
export type Ending =
  | { readonly status: "open" }
  | { readonly status: "missing" }
  | { readonly status: "completed"; readonly result: unknown }
  | {
      readonly status: "failed";
      /** Type of the root failure: `Refused`, `Ended`, `Cancelled`, `Terminated`, … */
      readonly type: string;
      readonly message: string;
      /** The operation that was refused, where it was one. */
      readonly operation: string | undefined;
    };

const operationIn = (details: unknown): string | undefined => {
  const detail: unknown = Array.isArray(details) ? details[0] : undefined;
  return isRecord(detail) && "operation" in detail ? String(detail["operation"]) : undefined;
};

const failureOf = (error: WorkflowFailedError): Ending => {
  let cause: unknown = error.cause;
  while (cause instanceof ActivityFailure && cause.cause !== undefined) cause = cause.cause;
  const failed = { status: "failed", message: messageOf(cause), operation: undefined } as const;
  if (cause instanceof CancelledFailure) return { ...failed, type: "Cancelled" };
  if (cause instanceof TerminatedFailure) return { ...failed, type: "Terminated" };
  const type = cause instanceof Error && "type" in cause ? String(cause.type) : "";
  const details = cause instanceof Error && "details" in cause ? cause.details : undefined;
  return { ...failed, type, operation: operationIn(details) };
};

const read = async (client: Client, workflowId: string): Promise<Ending> => {
  const handle = client.workflow.getHandle(workflowId);
  try {
    // Not by visibility, which lags.
    const { status } = await handle.describe();
    if (status.name === "RUNNING") return { status: "open" };
    return { status: "completed", result: await handle.result() };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { status: "missing" };
    if (!(error instanceof WorkflowFailedError)) throw error;
    return failureOf(error);
  }
};

/** Reads how the latest run of each id ended; open where the signal was aborted before Temporal answered. */
export const readEndings = async (
  environment: Environment,
  runs: ReadonlyArray<PlannedRun>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Ending>> => {
  const endings = new Map<string, Ending>();
  await environment.operate(async ({ client }) => {
    for (const { workflowId } of runs) endings.set(workflowId, await read(client, workflowId));
  }, signal);
  return endings;
};
