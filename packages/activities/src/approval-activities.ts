import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { ApprovedChunk, Approvals } from "./approvals.ts";
import { makerOf, type PlannedRequest } from "./planned-requests.ts";

/** Requests that a person has approved. */
interface ApprovedRequests {
  /** First run of those that continued as new, or were reset, up to the run that took the approval. */
  readonly firstRunId: string;
  readonly requests: ReadonlyArray<Omit<PlannedRequest, "at">>;
  /** Mark of the details of whom they pay, as they were approved. */
  readonly payee?: string;
}

/** A batch that a person has approved. */
interface ApprovedBatch extends Pick<ApprovedRequests, "firstRunId"> {
  readonly chunks: ReadonlyArray<ApprovedChunk>;
}

/** Prove what was approved, to the activities that send it. */
export interface ApprovalActivities {
  /** Gives a proof for each request. */
  readonly proveApproval: (approved: ApprovedRequests) => Promise<ReadonlyArray<string>>;
  /** Gives a proof for each chunk. */
  readonly proveBatch: (approved: ApprovedBatch) => Promise<ReadonlyArray<string>>;
}

/**
 * Give the workflow id of the run whose code this very worker runs.
 *
 * @throws NotLocal for an activity that came by a task queue: anybody who reaches Temporal can schedule that.
 */
const ownWorkflowId = (): string => {
  const { isLocal, workflowExecution } = Context.current().info;
  if (isLocal && workflowExecution !== undefined) return workflowExecution.workflowId;
  throw ApplicationFailure.nonRetryable(
    "An approval is proved to the code of the worker itself only: as a local activity.",
    "NotLocal",
  );
};

/** The activities that prove approvals. */
export const makeApprovalActivities = (approvals: Approvals): ApprovalActivities => ({
  proveApproval: async ({ firstRunId, payee, requests }) => {
    const run = { workflowId: ownWorkflowId(), firstRunId };
    return await Promise.all(
      requests.map((request) => {
        const maker = makerOf(request, requests);
        return approvals.proofByPerson(run, maker ? [maker, request] : [request], payee);
      }),
    );
  },
  proveBatch: async ({ chunks, firstRunId }) => {
    const run = { workflowId: ownWorkflowId(), firstRunId };
    return await Promise.all(chunks.map((chunk) => approvals.proofOfChunk(run, chunk)));
  },
});
