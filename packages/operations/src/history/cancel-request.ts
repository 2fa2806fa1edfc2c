import type { Temporal } from "../connection/temporal.ts";
import { type Event, timeOf } from "./events.ts";
import type { Failure } from "./failure.ts";
import { masked } from "./masked.ts";

/** Who asked a run to end, and why. */
export interface CancelRequest {
  /** ISO 8601. */
  readonly at: string;
  readonly by: string;
  /** Null where none was given. */
  readonly reason: string | null;
}

/** The event by which a run was asked to end. */
type Asked = NonNullable<Event["workflowExecutionCancelRequestedEventAttributes"]>;

/** Who asked a run to end; where another workflow did, such as the parent of a child, that one. */
export const askedToEndBy = ({ externalWorkflowExecution, identity }: Asked): string => {
  const workflowId = externalWorkflowExecution?.workflowId;
  return workflowId ? `the workflow ${workflowId}` : identity || "unknown";
};

/** A reason without the name of who gave it, which is kept behind it. */
export const withoutName = (given: string, by: string): string =>
  given.endsWith(` (${by})`) ? given.slice(0, -` (${by})`.length) : given;

/** Who asked a run to end, by events of its history; undefined where nobody did. */
export const cancelRequestIn = (events: ReadonlyArray<Event>): CancelRequest | undefined => {
  for (const event of events) {
    const asked = event.workflowExecutionCancelRequestedEventAttributes;
    if (!asked) continue;
    const by = askedToEndBy(asked);
    return { at: timeOf(event), by, reason: masked(withoutName(asked.cause ?? "", by)) || null };
  }
  return undefined;
};

/** It stands near the end: a run that was asked to end does little more. */
const EVENTS_READ = 200;

/** Read who asked a run to end. */
export const readCancelRequest = async (
  { client }: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<CancelRequest | undefined> => {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: EVENTS_READ,
  });
  return cancelRequestIn(history?.events ?? []);
};

/** The failure of a run that was cancelled, with who asked for it and why. */
export const withCancelRequest = (
  failure: Failure,
  request: CancelRequest | undefined,
): Failure => {
  if (failure.type !== "Cancelled" || request === undefined) return failure;
  const why = request.reason === null ? "" : `: ${request.reason}`;
  return { ...failure, message: `The run was cancelled by ${request.by}${why}` };
};
