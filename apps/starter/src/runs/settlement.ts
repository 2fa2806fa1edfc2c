import {
  type WorkflowExecutionDescription,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Temporal } from "../connection/temporal.ts";
import { badInput } from "../errors.ts";

/** What a person found out about a send of an ended run whose outcome was not known. */
export interface Settlement {
  readonly step: string;
  readonly by: string;
  readonly reason: string;
  /** What it made, by id; absent where it was not carried out. */
  readonly found?: Readonly<Record<string, string>>;
}

/**
 * Kept as the input of a workflow that no worker takes: so it needs nothing but Temporal, is written
 * once, and lasts at least as long as the run that it is about.
 */
const SETTLEMENT_TYPE = "settlement";

const settlementId = (runId: string, step: string): string => `settlement/${runId}/${step}`;

/** gRPC's code. */
const NOT_FOUND = 5;

/** What was settled of a step of a run, if it was. */
export const readSettlement = async (
  { client }: Temporal,
  runId: string,
  step: string,
): Promise<Settlement | undefined> => {
  try {
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: settlementId(runId, step) },
      maximumPageSize: 1,
    });
    const [kept] =
      history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    return kept && defaultPayloadConverter.fromPayload<Settlement>(kept);
  } catch (error) {
    const isGone =
      error instanceof WorkflowNotFoundError ||
      (error instanceof Error && "code" in error && error.code === NOT_FOUND);
    if (isGone) return undefined;
    throw error;
  }
};

/**
 * Keeps what a person found out.
 *
 * @throws BadInput where it was settled before
 */
export const keepSettlement = async (
  { client }: Temporal,
  { runId, taskQueue, workflowId }: WorkflowExecutionDescription,
  settlement: Settlement,
): Promise<void> => {
  const { by, found, reason, step } = settlement;
  try {
    const kept = await client.workflow.start(SETTLEMENT_TYPE, {
      workflowId: settlementId(runId, step),
      // Polled by nobody.
      taskQueue: `${taskQueue}/settlements`,
      args: [settlement],
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      workflowExecutionTimeout: "1 minute",
      staticSummary: `${by} settled ${step} of ${workflowId}: ${found === undefined ? "not carried out" : "carried out"}`,
    });
    await kept.terminate(reason);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw badInput(`${step} of ${workflowId} was settled before. Nothing was done.`);
  }
};
