import type { Journal } from "@durable-payments/journal";
import { COMMAND } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { canonicalJson } from "./canonical-json.ts";
import { mayStand } from "./earlier-sends.ts";
import { decodePayloads } from "./readable-payloads.ts";
import {
  type History,
  isAttempt,
  readHistory,
  readStart,
  type RunExecution,
  type Start,
  startIn,
} from "./read-history.ts";

type Started = temporal.api.history.v1.IStartChildWorkflowExecutionInitiatedEventAttributes;

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/giu;

const MOST_NAMED = 5;

/** Whether a run goes on from the history of another one, or begins in its place: mostly it does neither. */
const isFirstAttempt = ({ runId }: RunExecution, start: Start): boolean =>
  start.originalExecutionRunId === runId && !isAttempt(start);

/** The runs whose history was cut for this one, or that Temporal has begun anew by this one. */
const basesOf = (history: History): ReadonlyArray<string> => {
  const start = startIn(history);
  const reset = history.flatMap(
    ({ workflowTaskFailedEventAttributes: failed }) => (failed?.newRunId && failed.baseRunId) || [],
  );
  return start?.continuedExecutionRunId && isAttempt(start)
    ? [...reset, start.continuedExecutionRunId]
    : reset;
};

const startsIn = (history: History): ReadonlyArray<Started> =>
  history.flatMap((event) => event.startChildWorkflowExecutionInitiatedEventAttributes ?? []);

interface StartedBefore {
  readonly children: ReadonlyArray<Started>;
  /** Whether the history of a run before is gone. */
  readonly isIncomplete: boolean;
}

/** Read which children the runs before have started. */
const readStartedBefore = async (
  client: Client,
  workflowId: string,
  history: History,
): Promise<StartedBefore> => {
  const children: Array<Started> = [];
  const seen = new Set<string>();
  const open = [...basesOf(history)];
  let isIncomplete = false;
  for (let runId = open.pop(); runId !== undefined; runId = open.pop()) {
    if (seen.has(runId)) continue;
    seen.add(runId);
    const base = await readHistory(client, { workflowId, runId });
    isIncomplete ||= base === undefined;
    children.push(...startsIn(base ?? []));
    open.push(...basesOf(base ?? []));
  }
  return { children, isIncomplete };
};

/** Whether activities of a closed run may be at work still, so that nothing of them is written yet. */
const hasPendingActivities = (history: History): boolean => {
  const ended = new Set(
    history.flatMap(
      ({
        activityTaskCanceledEventAttributes: canceled,
        activityTaskCompletedEventAttributes: completed,
        activityTaskFailedEventAttributes: failed,
      }) => (completed ?? failed ?? canceled)?.scheduledEventId?.toString() ?? [],
    ),
  );
  return history.some(
    ({ activityTaskScheduledEventAttributes: scheduled, eventId }) =>
      scheduled && !ended.has(eventId?.toString() ?? ""),
  );
};

/** Whether an earlier child has sent something, or may have, or may yet. */
const mayHaveSent = async (
  client: Client,
  journal: Journal,
  workflowId: string,
): Promise<boolean> => {
  const history = await readHistory(client, { workflowId });
  // What its own children have sent is theirs; one that goes on may send at any moment.
  if (history === undefined || startsIn(history).length > 0) return true;
  const { status } = await client.workflow.getHandle(workflowId).describe();
  if (status.name === "RUNNING" || status.name === "PAUSED") return true;
  if (hasPendingActivities(history)) return true;
  const sends = await journal.find({ workflowId });
  const activities = history.filter((event) => event.activityTaskScheduledEventAttributes);
  // Such a journal may have forgotten some of them.
  if (journal.isOfProcess && activities.length > sends.length) return true;
  return sends.some(mayStand);
};

/** Whether an id holds a UUID that came with nothing: a new one every time that the parent does the same. */
const isByChance = (id: string, parentId: string, parentInput: string): boolean =>
  (id.match(UUID) ?? []).some((uuid) => !parentId.includes(uuid) && !parentInput.includes(uuid));

/**
 * Refuse a child workflow whose parent was reset or retried, and has started a child of the same type before, under
 * an id that it does not use any more: what that one has sent is not known under the new id, and would be sent again.
 * A child with the id that it had before finds out for itself what it has sent.
 *
 * @throws ApplicationFailure of type ChildStartedAnew
 */
export const refuseSecondChild = async (journal: Journal, parent: RunExecution): Promise<void> => {
  const { client, info } = Context.current();
  const { workflowId } = info.workflowExecution ?? { workflowId: "" };
  // A parent that is gone, or in another namespace, cannot be asked.
  const start = await readStart(client, parent);
  if (start === undefined || isFirstAttempt(parent, start)) return;
  const history = await readHistory(client, parent);
  if (history === undefined) return;
  const decode = async ({ input }: Pick<Started, "input">): Promise<string> =>
    canonicalJson(await decodePayloads(client, input));
  const parentInput = await decode(start);
  const isChance = (id: string) => isByChance(id, parent.workflowId, parentInput);
  const startedNow = startsIn(history);
  const own = startedNow.find((started) => started.workflowId === workflowId);
  const idsNow = new Set(startedNow.map((started) => started.workflowId));
  const before = await readStartedBefore(client, parent.workflowId, history);
  // It has kept its id: it finds out for itself what it has sent.
  if (before.children.some((started) => started.workflowId === workflowId)) return;
  const earlier = new Map<string, Started>();
  for (const started of before.children) {
    const id = started.workflowId ?? "";
    // It was started again, or stays: it is the same child.
    if (idsNow.has(id)) continue;
    if (started.workflowType?.name === info.workflowType) earlier.set(id, started);
  }
  const sent: Array<string> = [];
  for (const [id, started] of earlier) {
    const isNamed = !isChance(id) && !isChance(workflowId);
    // Both were named on purpose: they are two, unless they are to do the very same.
    if (isNamed && own !== undefined && (await decode(started)) !== (await decode(own))) continue;
    if (await mayHaveSent(client, journal, id)) sent.push(id);
    if (sent.length === MOST_NAMED) break;
  }
  const isUnknown = before.isIncomplete && isChance(workflowId);
  if (sent.length === 0 && !isUnknown) return;
  const which =
    sent.length > 0
      ? `An earlier run of it has started ${sent.join(", ")}, which has sent something or may have sent it`
      : "The history of an earlier run of it is gone, so that nobody can tell what its children may have sent";
  throw ApplicationFailure.nonRetryable(
    `The parent workflow ${parent.workflowId} was reset or retried, and has started this child under the new id ${workflowId}. ${which}: this child would send it a second time. Nothing was sent. See what the earlier child has done, and finish that there (\`${COMMAND} runs retry ID\`). Give children ids that stay the same: start them by runChild, or with a workflowId. Where another payment is owed after all, start it yourself under an id of its own.`,
    "ChildStartedAnew",
    { parent: parent.workflowId, earlier: sent },
  );
};
