import { isRecord, messageOf } from "@durable-payments/api-core/values";
import { PAYMENT_IDS } from "@durable-payments/protocol";
import {
  ActivityFailure,
  CancelledFailure,
  type Client,
  TerminatedFailure,
  WorkflowFailedError,
} from "@temporalio/client";
import type { Environment } from "../environment/environment.ts";
import { workflowIdsIn } from "../environment/starter-command.ts";
import { callUntilAnswered } from "../environment/temporal-calls.ts";
import type { PlannedRun } from "../plan/planned-run.ts";

/** How a run ended, as the Temporal server has it. */
export type Ending =
  | { readonly status: "open" }
  | { readonly status: "completed"; readonly result: unknown }
  | {
      readonly status: "failed";
      /** The type of the root failure: `Refused`, `Abandoned`, `Cancelled`, `Terminated`, … */
      readonly type: string;
      readonly message: string;
      /** The operation that was refused, where it was one. */
      readonly operation: string | undefined;
    };

/** A run's ending, with the ids and keys by which the run can be found. */
export interface EndedRun {
  readonly ending: Ending;
  readonly ids: readonly string[];
  /** Of the latest run of the id, in milliseconds since 1970; 0 where it is not known. */
  readonly startedAt: number;
  readonly closedAt: number;
}

/** A run that the server did not describe in time. */
export const NOT_READ: EndedRun = {
  ending: { status: "open" },
  ids: [],
  startedAt: 0,
  closedAt: 0,
};

const operationIn = (details: unknown): string | undefined => {
  if (!Array.isArray(details)) return undefined;
  // The activities put the one error that the client gave there (packages/activities/src/failures.ts).
  const [detail] = details as readonly unknown[];
  return isRecord(detail) && "operation" in detail ? String(detail["operation"]) : undefined;
};

const failureOf = (error: unknown): Ending => {
  let cause = error instanceof WorkflowFailedError ? error.cause : error;
  while (cause instanceof ActivityFailure && cause.cause !== undefined) cause = cause.cause;
  const message = messageOf(cause);
  const failed = { status: "failed", message, operation: undefined } as const;
  if (cause instanceof CancelledFailure) return { ...failed, type: "Cancelled" };
  if (cause instanceof TerminatedFailure) return { ...failed, type: "Terminated" };
  const type = cause instanceof Error && "type" in cause ? String(cause.type) : "";
  const details = cause instanceof Error && "details" in cause ? cause.details : undefined;
  return { ...failed, type, operation: operationIn(details) };
};

const read = async (client: Client, workflowId: string): Promise<EndedRun> => {
  const handle = client.workflow.getHandle(workflowId);
  // Not by visibility, which lags.
  const { closeTime, startTime, status, typedSearchAttributes } = await handle.describe();
  const found = typedSearchAttributes
    .getAll()
    .find(({ key }) => key.name === PAYMENT_IDS.name)?.value;
  const ended = {
    ids: Array.isArray(found) ? found.map(String) : [],
    startedAt: startTime.getTime(),
    closedAt: closeTime?.getTime() ?? 0,
  };
  if (status.name === "RUNNING") return { ...ended, ending: { status: "open" } };
  try {
    return { ...ended, ending: { status: "completed", result: await handle.result() } };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { ...ended, ending: failureOf(error) };
  }
};

/** Read how each run ended, by workflow id; open where the signal was aborted before the server answered. */
export const readEndings = async (
  environment: Environment,
  runs: readonly PlannedRun[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, EndedRun>> => {
  const endings = new Map<string, EndedRun>();
  for (const { workflowId } of runs) {
    const ended = await callUntilAnswered(environment, signal, (client) =>
      read(client, workflowId),
    );
    endings.set(workflowId, ended ?? NOT_READ);
  }
  return endings;
};

/** Read which runs the starter lists as ended in doubt: the outcome of a send of theirs is not known. */
export const readInDoubt = async (
  { starter }: Environment,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> => {
  const result = await starter.runUntilReached(
    ["runs", "list", "--in-doubt", "--limit", "100000"],
    signal,
  );
  return new Set(workflowIdsIn(result?.json["runs"]));
};
