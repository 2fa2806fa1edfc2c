import { type Voucher, VOUCHER } from "@durable-payments/protocol/voucher";
import { type Client, isGrpcServiceError } from "@temporalio/client";
import {
  encodeToPayload,
  encodeToPayloads,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import proto from "@temporalio/proto";
import { randomUUID } from "node:crypto";
import { refused } from "../errors.ts";
import { readFirstEvent, type RunOfId } from "./first-event.ts";

const { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } = proto.temporal.api.enums.v1;

/** gRPC's code for what exists already. */
const ALREADY_EXISTS = 6;

/** What a new start has that the failed run had not. */
export interface StartAgain {
  /** Versions of rows, as the failed run has named them. */
  readonly versions: Readonly<Record<string, number>>;
  /** Another input; left out, the encoded one of the failed run is copied. */
  readonly input?: { readonly amended: unknown };
}

/** Whether somebody else has started the id meanwhile: Temporal does this once, whoever asks. */
const isStartedMeanwhile = (error: unknown): boolean => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === (ALREADY_EXISTS as typeof cause.code);
};

/**
 * Starts the workflow id of a failed run again. Copied are input, type, queue, memo without the voucher, user metadata,
 * priority, retry policy and time-outs; not headers, schedule and version override.
 *
 * @returns the id of the new run.
 * @throws Refused where somebody else has started it meanwhile.
 */
export const startAgain = async (
  client: Client,
  run: RunOfId,
  { input, versions }: StartAgain,
): Promise<string> => {
  const { loadedDataConverter, namespace, identity } = client.options;
  const { userMetadata, workflowExecutionStartedEventAttributes: started } = await readFirstEvent(
    client,
    run,
  );
  const voucher: Voucher = {
    workflowId: run.workflowId,
    at: Date.now(),
    is: "retry",
    versions,
  };
  const { [VOUCHER]: _, ...memo } = started?.memo?.fields ?? {};
  const amended = input && (await encodeToPayloads(loadedDataConverter, input.amended));
  try {
    const { runId } = await client.workflowService.startWorkflowExecution({
      namespace,
      identity,
      requestId: randomUUID(),
      workflowId: run.workflowId,
      workflowType: started?.workflowType ?? null,
      taskQueue: started?.taskQueue ?? null,
      input: amended === undefined ? (started?.input ?? null) : { payloads: amended },
      memo: { fields: { ...memo, [VOUCHER]: await encodeToPayload(loadedDataConverter, voucher) } },
      userMetadata: userMetadata ?? null,
      priority: started?.priority ?? null,
      retryPolicy: started?.retryPolicy ?? null,
      workflowExecutionTimeout: started?.workflowExecutionTimeout ?? null,
      workflowRunTimeout: started?.workflowRunTimeout ?? null,
      workflowTaskTimeout: started?.workflowTaskTimeout ?? null,
      workflowIdReusePolicy:
        WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
    });
    return runId;
  } catch (error) {
    if (!isStartedMeanwhile(error)) throw error;
    throw refused(`${run.workflowId} was retried by somebody else meanwhile. Nothing was done.`, {
      operation: "show",
      workflowId: run.workflowId,
    });
  }
};
