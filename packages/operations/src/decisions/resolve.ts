import type { Assumptions } from "@durable-payments/api-core";
import {
  type ApprovalRequest,
  type Decision,
  type HumanTask,
  type Progress,
  resolveUpdate,
} from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { checkOptions } from "../acting.ts";
import { ConnectionFailed, refused } from "../errors.ts";
import { askProgress } from "../runs/progress.ts";
import { describeExpected, isUnderWay } from "../runs/state.ts";
import { checkTaskAmendment } from "../retry/amend.ts";
import { isApproval } from "./human-tasks.ts";
import { checkDecision, decide } from "./decide.ts";

/** A human task, and the run that waits with it. */
export interface AskedTask {
  readonly runId: string;
  readonly task: HumanTask;
}

/**
 * Read the human task that a run waits with now: nobody answers what they have not read.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param expectedRunId the run that is meant: where it is not the latest any more it is refused.
 * @returns the run, and its task: what was sent, what may be it, and which decisions are possible.
 * @throws NotFound where there is no such run; Refused where it asks nothing; ConnectionFailed where no worker
 *   answers for it.
 */
export const readHumanTask = async (
  temporal: Temporal,
  workflowId: string,
  expectedRunId?: string,
): Promise<AskedTask> => {
  return await readTaskOf(temporal, await describeExpected(temporal, workflowId, expectedRunId));
};

const progressOf = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<Progress> => {
  if (!isUnderWay(run)) {
    throw refused(`The run ${run.workflowId} has ended: it takes no decision any more.`);
  }
  const asked = await askProgress(temporal, run);
  if (asked._tag === "NoAnswer") {
    throw new ConnectionFailed({
      reason: "noWorker",
      message: `${asked.message} Nothing was done.`,
      next: asked.next ?? { operation: "doctor" },
    });
  }
  return asked.progress;
};

const NOT_WAITING = "This run does not wait for a person. Nothing was done.";

const readTaskOf = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<AskedTask> => {
  const { attention } = await progressOf(temporal, run);
  if (attention === undefined) throw refused(NOT_WAITING);
  return { runId: run.runId, task: attention };
};

/** A payment that waits for a second person, and the run that waits with it. */
export interface AskedApproval {
  readonly runId: string;
  readonly request: ApprovalRequest;
}

/**
 * Read the payment that a run waits with for a second person: nobody approves what they have not read.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param expectedRunId the run that is meant: where it is not the latest any more it is refused.
 * @returns the run, and what is to be approved, with the hash that a decision has to give.
 * @throws NotFound where there is no such run; Refused where it waits for no approval; ConnectionFailed where no
 *   worker answers for it.
 */
export const readApproval = async (
  temporal: Temporal,
  workflowId: string,
  expectedRunId?: string,
): Promise<AskedApproval> => {
  const run = await describeExpected(temporal, workflowId, expectedRunId);
  const { approval } = (await progressOf(temporal, run)).shown;
  if (!isApproval(approval))
    throw refused("This run does not wait for an approval. Nothing was done.");
  return { runId: run.runId, request: approval };
};

/** How a human task is resolved. */
export interface ResolveOptions {
  readonly by: string;
  /** The question that was read. */
  readonly question: string;
  readonly decision: Decision;
  /** The run that asked when they looked: where it is not the latest any more it is refused. */
  readonly expectedRunId?: string | undefined;
  /** What is assumed of the service: an amended request is checked by it. */
  readonly assumptions: Assumptions;
}

/**
 * Resolve the human task of a run: give it the decision of the person who has read it.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param resolution who decides, what, and on which `question` of {@link readHumanTask}; the run that asked it.
 * @returns the id of the run that took it.
 * @throws InvalidInput that names every fault of an amendment; Refused where the run asks another question by
 *   now, or none; ConnectionFailed where no worker took it.
 * @example
 * const { runId, task } = await readHumanTask(temporal, "invoice-2026-003");
 * await resolveRun(temporal, "invoice-2026-003", {
 *   question: task.question,
 *   expectedRunId: runId,
 *   by: "Ada",
 *   decision: { resend: true },
 *   assumptions: defaultAssumptions,
 * });
 */
export const resolveRun = async (
  temporal: Temporal,
  workflowId: string,
  options: ResolveOptions,
): Promise<string> => {
  const { assumptions, by, decision, expectedRunId, question } = checkOptions(options);
  const resolution = { by, question, ...checkOptions(decision) };
  checkDecision(resolution);
  if ("amend" in decision) {
    const run = await describeExpected(temporal, workflowId, expectedRunId);
    const { task } = await readTaskOf(temporal, run);
    // What is not asked any more the run refuses itself.
    if (task.question === question && task.actions.includes("amend")) {
      await checkTaskAmendment(temporal, run, task, { patch: decision.amend, assumptions });
    }
  }
  return await decide(temporal, workflowId, resolveUpdate, resolution, expectedRunId);
};
