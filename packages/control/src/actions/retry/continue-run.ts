import { type Voucher, VOUCHER } from "@durable-payments/protocol/calls";
import type { Client } from "@temporalio/client";
import {
  encodeToPayload,
  encodeToPayloads,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import proto, { type temporal } from "@temporalio/proto";
import { randomUUID } from "node:crypto";
import type { RunOfId, Temporal } from "../../facts/connection/temporal.ts";
import { hasCode } from "../../facts/connection/temporal-errors.ts";
import { refused } from "../../errors.ts";
import { readFirstEvent } from "../../facts/run-input.ts";
import { endOf, type Event, type Failure } from "../../facts/history.ts";

type Reading = Pick<Temporal, "client" | "connection">;

type EventId = NonNullable<Event["eventId"]>;

/**
 * Finds the workflow task that scheduled the failing step: what happened before it is kept. Code that undoes steps may
 * have failed as well, so the failure of the run decides. Without a failed step, the last task is repeated.
 */
export const resetPoint = (
  events: ReadonlyArray<Event>,
  failure: Failure | null,
): EventId | undefined => {
  const ends = events.flatMap((event) => endOf(event) ?? []);
  const failed = ends.filter(({ outcome }) => outcome === "failed" || outcome === "timedOut");
  const end =
    failed.findLast(({ message }) => message !== null && failure?.message.includes(message)) ??
    failed.at(-1);
  const scheduling = events.find(({ eventId }) => String(eventId) === end?.begunAs);
  const completed = events.findLast((event) => event.workflowTaskCompletedEventAttributes);
  return (
    (
      scheduling?.activityTaskScheduledEventAttributes ??
      scheduling?.startChildWorkflowExecutionInitiatedEventAttributes
    )?.workflowTaskCompletedEventId ??
    completed?.eventId ??
    undefined
  );
};

/**
 * Resets a failed run of a user's own workflow to the task that scheduled the failing step: its own activities keep
 * their results, and signals that it has received are given again.
 * Returns the id of the new run; undefined if the run had done nothing that could be kept.
 */
export const resetRun = async (
  client: Client,
  run: RunOfId,
  { failure, reason }: { readonly failure: Failure | null; readonly reason: string },
): Promise<string | undefined> => {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const point = resetPoint(events ?? [], failure);
  if (point === undefined) return undefined;
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    identity: client.options.identity,
    workflowExecution: { workflowId: run.workflowId, runId: run.runId },
    reason,
    workflowTaskFinishEventId: point,
    // A run is retried once: a second request gets the run of the first.
    requestId: `retry-${run.runId}`,
    resetReapplyExcludeTypes: [
      proto.temporal.api.enums.v1.ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST,
    ],
  });
  return runId;
};

/**
 * Makes the request that starts the workflow id of a failed run again. Copied are input, type, queue, memo without the
 * voucher, user metadata, priority, retry policy and timeouts; not headers, schedule and version override.
 *
 * @param first event of the run, with payloads as the client's converter encodes them.
 * @param versions of rows that the failed run named; undefined if Temporal vouches for nothing, as after a reset.
 */
export const startAgainOf = async (
  { loadedDataConverter, identity, namespace }: Client["options"],
  workflowId: string,
  { userMetadata, workflowExecutionStartedEventAttributes: started }: Event,
  versions: Readonly<Record<string, number>> | undefined,
  amendment: { readonly input: unknown } | undefined,
): Promise<temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest> => {
  const voucher: Voucher = { workflowId, at: Date.now(), is: "retry", versions: versions ?? {} };
  const { [VOUCHER]: _, ...memo } = started?.memo?.fields ?? {};
  const vouching = { [VOUCHER]: await encodeToPayload(loadedDataConverter, voucher) };
  const given = started?.input?.payloads ?? [];
  const amended = amendment && (await encodeToPayloads(loadedDataConverter, amendment.input));
  return {
    namespace,
    identity,
    requestId: randomUUID(),
    workflowId,
    workflowType: started?.workflowType ?? null,
    taskQueue: started?.taskQueue ?? null,
    // The input is the first argument.
    input: { payloads: [...(amended ?? given.slice(0, 1)), ...given.slice(1)] },
    memo: { fields: { ...memo, ...(versions && vouching) } },
    userMetadata: userMetadata ?? null,
    priority: started?.priority ?? null,
    retryPolicy: started?.retryPolicy ?? null,
    workflowExecutionTimeout: started?.workflowExecutionTimeout ?? null,
    workflowRunTimeout: started?.workflowRunTimeout ?? null,
    workflowTaskTimeout: started?.workflowTaskTimeout ?? null,
    workflowIdReusePolicy:
      proto.temporal.api.enums.v1.WorkflowIdReusePolicy
        .WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
    workflowIdConflictPolicy:
      proto.temporal.api.enums.v1.WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
  };
};

/** Starts the workflow id of a failed run again. Rejects if somebody else has started it meanwhile. */
export const startAgain = async (
  reading: Reading,
  run: RunOfId,
  versions: Readonly<Record<string, number>>,
  amendment: { readonly input: unknown } | undefined,
): Promise<string> => {
  const { options, workflowService } = reading.client;
  const { workflowId } = run;
  const first = await readFirstEvent(reading, run);
  const request = await startAgainOf(options, workflowId, first, versions, amendment);
  try {
    const { runId } = await workflowService.startWorkflowExecution(request);
    return runId;
  } catch (error) {
    // Temporal does this only once.
    if (!hasCode(error, "alreadyExists")) throw error;
    throw refused(
      `${workflowId} was retried by someone else in the meantime. Nothing was done.`,
      workflowId,
    );
  }
};
