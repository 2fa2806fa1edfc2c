import type { coresdk } from "@temporalio/proto";
import { MARKER, type Recorded, type RecordedCommand } from "./record.ts";
import { stepOf } from "./step.ts";

type Command = coresdk.workflow_commands.IWorkflowCommand;

const named = (type: string, name: string | null | undefined): Recorded => ({
  type,
  ...(name && { name }),
});

/**
 * The event that a command becomes, or undefined where it becomes none that is compared: those of
 * cancellations and updates depend on more than the code.
 */
export const recordedAs = (command: Command): Omit<RecordedCommand, "stack"> | undefined => {
  const { scheduleActivity, scheduleLocalActivity, startChildWorkflowExecution, startTimer } =
    command;
  if (scheduleActivity) {
    const { activityId, activityType, seq } = scheduleActivity;
    const step = stepOf(scheduleActivity.arguments);
    return {
      ...named("ACTIVITY_TASK_SCHEDULED", activityType),
      key: `activity ${seq}`,
      ...(activityId && { activityId }),
      ...(step !== undefined && { step }),
    };
  }
  if (scheduleLocalActivity) {
    const { activityType, seq } = scheduleLocalActivity;
    return { ...named(MARKER, activityType), key: `local activity ${seq}` };
  }
  if (startTimer) return { type: "TIMER_STARTED", key: `timer ${startTimer.seq}` };
  if (startChildWorkflowExecution) {
    const { seq, workflowId, workflowType } = startChildWorkflowExecution;
    return {
      ...named("START_CHILD_WORKFLOW_EXECUTION_INITIATED", workflowType),
      ...(workflowId && { workflowId }),
      key: `child ${seq}`,
    };
  }
  if (command.signalExternalWorkflowExecution) {
    const { signalName } = command.signalExternalWorkflowExecution;
    return named("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED", signalName);
  }
  if (command.setPatchMarker) return named(MARKER, command.setPatchMarker.patchId);
  if (command.upsertWorkflowSearchAttributes) return { type: "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES" };
  if (command.modifyWorkflowProperties) return { type: "WORKFLOW_PROPERTIES_MODIFIED" };
  if (command.completeWorkflowExecution) return { type: "WORKFLOW_EXECUTION_COMPLETED" };
  if (command.failWorkflowExecution) return { type: "WORKFLOW_EXECUTION_FAILED" };
  if (command.cancelWorkflowExecution) return { type: "WORKFLOW_EXECUTION_CANCELED" };
  if (command.continueAsNewWorkflowExecution) {
    return { type: "WORKFLOW_EXECUTION_CONTINUED_AS_NEW" };
  }
  return undefined;
};

/** The key of the command that this one takes back, if it does. */
export const takesBack = ({
  cancelChildWorkflowExecution,
  cancelTimer,
  requestCancelActivity,
}: Command): string | undefined => {
  if (cancelTimer) return `timer ${cancelTimer.seq}`;
  if (requestCancelActivity) return `activity ${requestCancelActivity.seq}`;
  return cancelChildWorkflowExecution
    ? `child ${cancelChildWorkflowExecution.childWorkflowSeq}`
    : undefined;
};
