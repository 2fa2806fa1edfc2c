import {
  type ApprovalRequest,
  askingStages,
  type HumanTask,
  PAYMENT_STAGE,
  queryTexts,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import type { Temporal } from "../connection/temporal.ts";
import { styled } from "../output/output.ts";
import { time, wrap } from "../output/text.ts";
import { approvalLines, attentionLines, isApproval } from "./progress-lines.ts";
import { askProgress } from "./progress-query.ts";

/** A run that waits for a person. */
export interface WaitingRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly startedAt: string;
  /** What is asked; null where the run could not be asked, or was answered meanwhile. */
  readonly attention: HumanTask | null;
  /** The payment that waits for a second person. */
  readonly approval?: ApprovalRequest;
  /** Why it could not be asked. */
  readonly noProgress?: string;
}

const WAITING = `${PAYMENT_STAGE.name} IN ${queryTexts(askingStages)} AND ExecutionStatus = "Running"`;

const ASKED_AT_ONCE = 8;

/** The runs that wait for a person, each with its question. */
export const listWaitingRuns = async (temporal: Temporal): Promise<ReadonlyArray<WaitingRun>> => {
  const runs: Array<WorkflowExecutionInfo> = [];
  for await (const run of temporal.client.workflow.list({ query: WAITING })) runs.push(run);
  return await Effect.runPromise(
    Effect.forEach(
      runs,
      ({ runId, startTime, taskQueue, type, workflowId }) =>
        Effect.promise(async () => {
          const asked = await askProgress(temporal, { workflowId, taskQueue });
          const startedAt = startTime.toISOString();
          const run = { workflowId, runId, type, startedAt };
          if (asked._tag === "NoAnswer") {
            return { ...run, attention: null, noProgress: asked.reason };
          }
          const { attention = null, shown } = asked.progress;
          const { approval } = shown;
          return { ...run, attention, ...(isApproval(approval) && { approval }) };
        }),
      { concurrency: ASKED_AT_ONCE },
    ),
  );
};

const questionLines = (run: WaitingRun): Array<string> => {
  const { approval, attention, noProgress, workflowId } = run;
  if (attention !== null) return attentionLines(workflowId, attention);
  return approval === undefined
    ? [wrap(noProgress ?? "It was answered meanwhile.", "  ")]
    : approvalLines(workflowId, approval);
};

const runText = (run: WaitingRun): string =>
  [
    `${styled("bold", run.workflowId)} (${run.type}), started ${time(run.startedAt)}`,
    ...questionLines(run),
  ].join("\n");

/** The runs that wait for a person, as a person reads them. */
export const waitingRunsText = (runs: ReadonlyArray<WaitingRun>): string =>
  runs.length === 0 ? "No run waits for a person." : runs.map(runText).join("\n\n");
