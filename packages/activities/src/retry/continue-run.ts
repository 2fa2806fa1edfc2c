import { isRecord } from "@durable-payments/client/values";
import { type Voucher, VOUCHER } from "@durable-payments/protocol/calls";
import { type Client, type ConnectionLike, isGrpcServiceError } from "@temporalio/client";
import {
  decodeArrayFromPayloads,
  encodeToPayload,
  encodeToPayloads,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import proto, { type temporal } from "@temporalio/proto";
import type { Failure } from "@durable-payments/protocol/failures";
import { endOf, type Event } from "./history-ends.ts";

/** One run of a workflow id. */
export type RunOfId = Readonly<Record<"runId" | "workflowId", string>>;

/** Temporal: its answers as they are stored come by the connection, and those of the client may be decoded. */
export interface Reading {
  readonly client: Client;
  readonly connection: Pick<ConnectionLike, "workflowService">;
}

/** Reads the arguments of a run as Temporal has them, encoded; the client would decode them. */
export const readFirstEvent = async (
  { client, connection }: Reading,
  { runId, workflowId }: RunOfId,
): Promise<Event> => {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [first] = history?.events ?? [];
  if (!first?.workflowExecutionStartedEventAttributes)
    throw new Error(`The history of ${workflowId} does not begin with its start.`);
  return first;
};

/** The code of gRPC. */
const ALREADY_EXISTS = 6;

type EventId = NonNullable<Event["eventId"]>;

const begunOf = (event: Event | undefined) =>
  event?.activityTaskScheduledEventAttributes ??
  event?.startChildWorkflowExecutionInitiatedEventAttributes;

/** Returns the workflow task that scheduled an activity or a child; undefined for any other event. */
const taskOf = (event: Event | undefined): EventId | undefined =>
  begunOf(event)?.workflowTaskCompletedEventId ?? undefined;

/** Returns the type of an activity or a child. */
const typeOf = (event: Event | undefined): string | null | undefined =>
  (
    event?.activityTaskScheduledEventAttributes?.activityType ??
    event?.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType
  )?.name;

/** Finds the workflow task that scheduled a chosen step for the first time: by its name, or the type of its activity or child. */
const pointOfStep = async (
  { options: { loadedDataConverter } }: Client,
  events: ReadonlyArray<Event>,
  step: string,
): Promise<EventId | undefined> => {
  for (const event of events) {
    if (taskOf(event) === undefined) continue;
    const { payloads } = event.activityTaskScheduledEventAttributes?.input ?? {};
    if (typeOf(event) === step) return taskOf(event);
    const [call] = await decodeArrayFromPayloads(loadedDataConverter, payloads).catch(() => []);
    if (isRecord(call) && call["step"] === step) return taskOf(event);
  }
  return undefined;
};

/**
 * Finds the workflow task to which a failed run is reset, so that what happened before is kept: that of the chosen step, or of
 * the failing one. Code that undoes steps may have failed as well, so the failure of the run decides. Without a failed step,
 * the last task is repeated.
 *
 * @returns the id of its event; undefined if the run had done nothing that could be kept, or never reached the step.
 */
export const resetPoint = async (
  client: Client,
  events: ReadonlyArray<Event>,
  failure: Failure | null,
  from: string | undefined,
): Promise<EventId | undefined> => {
  if (from !== undefined) return pointOfStep(client, events, from);
  const begunBy = (id: string) => events.find(({ eventId }) => String(eventId) === id);
  const ends = events.flatMap((event) => endOf(event) ?? []);
  const failed = ends.filter(({ outcome }) => outcome === "failed" || outcome === "timedOut");
  const end =
    failed.findLast(({ message }) => message !== null && failure?.message.includes(message)) ??
    // The messages of an encrypted history are not readable here.
    failed.findLast(({ begunAs }) => typeOf(begunBy(begunAs)) === failure?.step) ??
    failed.at(-1);
  const completed = events.findLast((event) => event.workflowTaskCompletedEventAttributes);
  return taskOf(end && begunBy(end.begunAs)) ?? completed?.eventId ?? undefined;
};

/** Returns why a failed run cannot continue from a chosen step: it never reached it. Only its history has its own activities. */
export const whyNotFrom = async (
  client: Client,
  { runId, workflowId }: RunOfId,
  from: string,
): Promise<string | undefined> => {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return (await pointOfStep(client, events ?? [], from)) === undefined
    ? `${workflowId} never reached ${from}: choose a step that it has begun.`
    : undefined;
};

/**
 * Resets a failed run of a user's own workflow to the task that scheduled the failing step, or a chosen earlier one: its own
 * activities before that keep their results, and signals that it has received are given again. Writes after it return their
 * results from the ledger.
 *
 * @returns the id of the new run; undefined if the run had done nothing that could be kept, or never reached `from`.
 */
export const resetRun = async (
  client: Client,
  run: RunOfId,
  {
    failure,
    from,
    reason,
  }: Readonly<Record<"reason", string>> & {
    readonly failure: Failure | null;
    readonly from?: string | undefined;
  },
): Promise<string | undefined> => {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const point = await resetPoint(client, events ?? [], failure, from);
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
 * @param requestId of who starts it: the same id again gets the run that it has started.
 */
export const startAgainOf = async (
  { loadedDataConverter, identity, namespace }: Client["options"],
  workflowId: string,
  { userMetadata, workflowExecutionStartedEventAttributes: started }: Event,
  versions: Readonly<Record<string, number>> | undefined,
  amendment: { readonly input: unknown } | undefined,
  requestId: string,
): Promise<temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest> => {
  const voucher: Voucher = { workflowId, at: Date.now(), is: "retry", versions: versions ?? {} };
  const { [VOUCHER]: _, ...memo } = started?.memo?.fields ?? {};
  const vouching = { [VOUCHER]: await encodeToPayload(loadedDataConverter, voucher) };
  const given = started?.input?.payloads ?? [];
  const amended = amendment && (await encodeToPayloads(loadedDataConverter, amendment.input));
  return {
    namespace,
    identity,
    requestId,
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

/**
 * Starts the workflow id of a failed run again.
 *
 * @returns the id of the new run; undefined if somebody else has started one meanwhile.
 */
export const startAgain = async (
  reading: Reading,
  run: RunOfId,
  versions: Readonly<Record<string, number>>,
  amendment: { readonly input: unknown } | undefined,
  requestId: string,
): Promise<string | undefined> => {
  const { options, workflowService } = reading.client;
  const { workflowId } = run;
  const first = await readFirstEvent(reading, run);
  const request = await startAgainOf(options, workflowId, first, versions, amendment, requestId);
  try {
    const { runId } = await workflowService.startWorkflowExecution(request);
    return runId;
  } catch (error) {
    // Temporal does this only once.
    if (isGrpcServiceError(error) && (error.code as number) === ALREADY_EXISTS) return undefined;
    throw error;
  }
};
