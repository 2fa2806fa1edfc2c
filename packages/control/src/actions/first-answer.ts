/*
 * The first answer about the payment of a run that exists: of a new one, or of a key that is known. An open run answers
 * itself. It is not obvious what an ended one answers, since its worker may be gone and Temporal may have forgotten it: the
 * ledger has its writes. It never says "refused", because that permits the caller to pay in another way, and only the run
 * knows whether it started a child.
 */
import { messageOf } from "@durable-payments/client/values";
import type { Ledger } from "@durable-payments/ledger";
import type { Duration } from "@durable-payments/protocol";
import { createdUpdate, type EarlyAnswer, ID_FIELDS } from "@durable-payments/protocol/calls";
import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { msToNumber } from "@temporalio/common/lib/time.js";
import type { Connected } from "../facts/connection/connections.ts";
import { detailsOf, hasCode } from "../facts/connection/temporal-errors.ts";
import { findRun } from "../facts/connection/temporal.ts";
import { check, isWait } from "../rules/filter.ts";
import { noRun } from "../facts/named.ts";

const NOT_KNOWN =
  "The run has started, and its first answer is not known yet. Do not start the payment under another key: show the run.";

/** Checks a time to wait before anything is sent. @throws InvalidInput */
export const checkWait = (within: unknown): void =>
  check("time to wait", { within: isWait }, { within }, "Nothing was done.");

const whyNone = (error: unknown): string => {
  if (error instanceof WorkflowUpdateFailedError) return messageOf(error.cause ?? error);
  // Its code fails: the run continues once the code is corrected, and may then pay.
  if (!hasCode(error, "notReady")) return NOT_KNOWN;
  // The details of a start with a question say only that it failed.
  const said = isGrpcServiceError(error) ? error.message : `${detailsOf(error)}.`;
  return `${NOT_KNOWN} Temporal says: ${said}`;
};

/** The answer if the run gives none: it may still pay. */
export const startedOf = (error: unknown): EarlyAnswer => ({
  is: "started",
  reason: whyNone(error),
});

/** Answers for a run that has ended. */
const answerOfEnded = async (ledger: Ledger, workflowId: string): Promise<EarlyAnswer> => {
  const rows = await ledger.rowsOf(workflowId);
  const [made] = rows
    .filter(({ madeId, operation }) => madeId !== null && ID_FIELDS[operation] !== undefined)
    .toSorted((one, other) => one.createdAt - other.createdAt);
  if (made === undefined && (await ledger.runs({ workflowIds: [workflowId] })).length === 0)
    throw await noRun(ledger, workflowId);
  return made === undefined
    ? { is: "started", reason: `${workflowId} is not running: show it.` }
    : { is: "created", operation: made.operation, id: made.madeId ?? "" };
};

/**
 * Asks a run for the first answer about its payment. It changes nothing, and can be asked again at any time.
 *
 * @returns `created` with the service's id, `needs approval`, `refused`, or `started`: the outcome is not known in time.
 * @throws NotFound if neither Temporal nor the ledger knows the id.
 */
export const firstAnswer = async (
  { client, ledger }: Pick<Connected, "client" | "ledger">,
  workflowId: string,
  within: Duration,
): Promise<EarlyAnswer> => {
  try {
    return await client.withDeadline(Date.now() + msToNumber(within), () =>
      client.workflow.getHandle(workflowId).executeUpdate(createdUpdate),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return answerOfEnded(ledger, workflowId);
    const isOpen =
      error instanceof WorkflowUpdateFailedError ||
      error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      (hasCode(error, "notReady") && (await findRun(client, workflowId)) !== undefined);
    if (!isOpen) throw error;
    return startedOf(error);
  }
};
