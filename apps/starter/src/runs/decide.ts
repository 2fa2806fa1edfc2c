import type { Approval, BatchCommand, Resolution } from "@durable-payments/protocol";
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { badInput, cannotConnect } from "../errors.ts";
import { commandLine } from "../output/command-line.ts";
import { describeRun } from "./run-state.ts";

const PATIENCE_MS = 10_000;

/** The updates by which a person decides for a run, and what each takes. */
export interface Decisions {
  readonly resolve: Resolution;
  readonly approve: Approval;
  readonly pause: BatchCommand;
  readonly resume: BatchCommand;
  readonly cancel: BatchCommand;
}

/**
 * Gives a run the decision of a person.
 *
 * @returns the id of the run that took it
 * @throws BadInput where the run does not take it; NoWorker where nobody could give it to the run
 */
export const decide = async <Name extends keyof Decisions>(
  temporal: Temporal,
  workflowId: string,
  update: Name,
  decision: Decisions[Name],
): Promise<string> => {
  const { runId } = await describeRun(temporal, workflowId);
  const { client, connection, settings } = temporal;
  try {
    await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      client.workflow
        .getHandle(workflowId, runId)
        .executeUpdate<void, [Decisions[Name]]>(update, { args: [decision] }),
    );
    return runId;
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      throw badInput(error.cause?.message ?? error.message);
    }
    if (error instanceof WorkflowNotFoundError) {
      throw badInput(`The run ${workflowId} has ended: it takes no decision any more.`);
    }
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      throw cannotConnect(
        "NoWorker",
        `No worker on task queue "${settings.taskQueue}" took the decision within ${PATIENCE_MS / 1000} s; it may still be taken. See ${commandLine("status", workflowId)}`,
      );
    }
    throw error;
  }
};
