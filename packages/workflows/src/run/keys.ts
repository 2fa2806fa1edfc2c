import { keyOfStep } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";

/** The `unique_request_id` of a step of the run that asks. See {@link keyOfStep}. */
export const stepKey = (step: string): string => keyOfStep(workflowInfo().workflowId, step);
