import { isRecord, messageOf } from "@durable-payments/api-core/values";
import { isApproval } from "@durable-payments/operations/decisions";
import { type Progress, progressQuery } from "@durable-payments/protocol";
import type { Connection, WorkflowHandle } from "@temporalio/client";

const ANSWERED_WITHIN_MS = 2_000;

const isProgress = (answer: unknown): answer is Progress =>
  isRecord(answer) && Array.isArray(answer["steps"]) && isRecord(answer["shown"]);

/**
 * Ask a run where it stands.
 *
 * @returns undefined where it has not begun with `beginRun()`, or no worker answers.
 */
export const readProgress = async (
  connection: Connection,
  handle: WorkflowHandle,
): Promise<Progress | undefined> => {
  try {
    const answer = await connection.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      handle.query<unknown>(progressQuery.name),
    );
    return isProgress(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
};

/** Whether a run waits for the decision of a person. */
export const asksPerson = ({ attention, shown }: Progress): boolean =>
  attention !== undefined || isApproval(shown["approval"]);

const waitsFor = ({ attention, shown, stage, steps }: Progress): string => {
  const at = `It is at the step ${stage}`;
  if (attention !== undefined) {
    return `${at}, and asks a person: ${attention.reason} Answer by run.resolve(), with ${attention.actions.join(", ")}.`;
  }
  if (isApproval(shown["approval"])) {
    return `${at}, and waits for the approval of a second person: run.approve() or run.reject().`;
  }
  const step = steps.find(({ name }) => name === stage);
  return `${at}${step?.note === undefined ? "" : `, and says: ${step.note}`}.`;
};

/** The failure of a workflow task: the code threw something that is no failure of the run, and is tried again for ever. */
const failedTask = async (handle: WorkflowHandle): Promise<string | undefined> => {
  const { events } = await handle.fetchHistory();
  const failed = (events ?? []).findLast((event) => event.workflowTaskFailedEventAttributes);
  const failure = failed?.workflowTaskFailedEventAttributes?.failure;
  if (failure === undefined || failure === null) return undefined;
  return `Its code throws, in ${failure.stackTrace?.split("\n")[0]?.trim() ?? "the workflow"}: ${failure.message ?? ""}.`;
};

/**
 * Word where a run stands, and what keeps it: its step, whom it asks, which activity fails, which child it waits for and
 * where that stands, or what its code throws.
 *
 * @returns sentences; also where the run cannot be asked.
 */
export const describeStanding = async (
  connection: Connection,
  handle: WorkflowHandle,
): Promise<string> => {
  try {
    const { raw, status } = await handle.describe();
    if (status.name !== "RUNNING") return `It has ended: ${status.name}.`;
    const progress = await readProgress(connection, handle);
    const pending = (raw.pendingActivities ?? []).map(({ activityType, attempt, lastFailure }) => {
      const failure = lastFailure?.message ? `, after: ${lastFailure.message}` : "";
      return `The activity ${activityType?.name ?? ""} is in its attempt ${attempt ?? 1}${failure}.`;
    });
    const children = await Promise.all(
      (raw.pendingChildren ?? []).map(async ({ workflowId, workflowTypeName }) => {
        const child = handle.client.getHandle(workflowId ?? "");
        return `It waits for the child ${workflowId} (${workflowTypeName}): ${await describeStanding(connection, child)}`;
      }),
    );
    const thrown = await failedTask(handle);
    return [
      progress === undefined ? "It does not say at which step it is." : waitsFor(progress),
      ...pending,
      ...children,
      ...(thrown === undefined ? [] : [thrown]),
    ].join(" ");
  } catch (error) {
    return `Where it stands cannot be read: ${messageOf(error)}.`;
  }
};
