import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import type { UpdateDefinition } from "@temporalio/common";
import { checkName, checkOptions, checkReason } from "../acting.ts";
import { changing } from "../connection/changing.ts";
import type { Temporal } from "../connection/temporal.ts";
import { ConnectionFailed, refused } from "../errors.ts";
import { describeExpected } from "../runs/state.ts";

const PATIENCE_MS = 10_000;

/** Who decides, and the reasons that a decision may have. */
interface Decided {
  readonly by: string;
  readonly why?: string;
}

const REASONS = ["reject", "abandon", "why"] as const;

/** Check who decides, and the reason that is given. */
export const checkDecision = (decision: Decided): void => {
  checkName(checkOptions(decision).by);
  for (const [field, reason] of Object.entries(decision)) {
    if (REASONS.some((name) => name === field) && reason !== undefined) checkReason(reason, field);
  }
};

const about = (workflowId: string) =>
  ({
    mayBe: `The run ${workflowId} may have taken the decision`,
    next: { operation: "describe", workflowId },
  }) as const;

/** The run's workflow has no handler for it; the SDK says so in its own terms. */
const isOtherKind = ({ cause }: WorkflowUpdateFailedError): boolean =>
  cause?.message.startsWith("No registered handler for update") ?? false;

/**
 * Give a run the decision of a person: approve or reject a payment, pause, resume or cancel a batch.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param update such as `approveUpdate`, `resolveUpdate` or `pauseBatchUpdate` of the protocol.
 * @param decision the update's argument.
 * @param expectedRunId the run that asked when they looked: where it is not the latest any more it is refused.
 * @returns the id of the run that took it.
 * @throws InvalidInput where the name or a reason is empty; NotFound where there is no such run; Refused
 *   where the run does not take it, or is not the expected one; ConnectionFailed where no worker could give it to the run, which may still take it.
 * @example
 * const { request, runId } = await readApproval(temporal, "invoice-2026-002");
 * const { hash } = request;
 * await decide(temporal, "invoice-2026-002", approveUpdate, { by: "Bob", hash, approve: true }, runId);
 */
export const decide = async <Content extends Decided>(
  temporal: Temporal,
  workflowId: string,
  update: UpdateDefinition<void, [Content]>,
  decision: Content,
  expectedRunId?: string,
): Promise<string> => {
  checkDecision(decision);
  const { runId } = await describeExpected(temporal, workflowId, expectedRunId);
  const { client, connection, settings } = temporal;
  try {
    await changing(temporal, about(workflowId), () =>
      connection.withDeadline(Date.now() + PATIENCE_MS, () =>
        client.workflow.getHandle(workflowId, runId).executeUpdate(update, { args: [decision] }),
      ),
    );
    return runId;
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      throw isOtherKind(error)
        ? refused(`The run ${workflowId} takes no such decision: it is of another kind.`, {
            operation: "describe",
            workflowId,
          })
        : refused(
            error.cause?.message ?? error.message,
            // Who says no to what goes on has another way to stop it.
            "reject" in decision && /was APPROVED by/.test(error.cause?.message ?? "")
              ? { operation: "cancel", workflowId }
              : undefined,
          );
    }
    if (error instanceof WorkflowNotFoundError) {
      throw refused(`The run ${workflowId} has ended: it takes no decision any more.`);
    }
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      throw new ConnectionFailed({
        reason: "noWorker",
        carriedOut: "unknown",
        message: `No worker on task queue "${settings.taskQueue}" took the decision within ${PATIENCE_MS / 1000} s. The run may still take it: see how it stands before you decide again.`,
        next: { operation: "describe", workflowId },
      });
    }
    throw error;
  }
};
