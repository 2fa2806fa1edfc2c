import { defaultPayloadConverter, RawValue } from "@temporalio/common";
import type { coresdk } from "@temporalio/proto";
import { proxySinks, workflowInfo, type WorkflowInterceptorsFactory } from "@temporalio/workflow";
import { getActivator } from "@temporalio/workflow/lib/global-attributes.js";
import {
  MARKER,
  type Recorded,
  type RecordedCommand,
  type RecorderSinks,
  stepOf,
} from "./record.ts";

type Command = coresdk.workflow_commands.IWorkflowCommand;

const named = (type: string, name: string | null | undefined): Recorded => ({
  type,
  ...(name && { name }),
});

/**
 * Returns the event that a command becomes; undefined if it is not compared: those of local activities, cancellations
 * and updates depend on more than the code.
 */
const recordedAs = (command: Command): Omit<RecordedCommand, "stack"> | undefined => {
  const { scheduleActivity, startChildWorkflowExecution, startTimer } = command;
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

/** Returns the key of the command that this one takes back, if it does. */
const takesBack = (command: Command): string | undefined => {
  const { cancelChildWorkflowExecution, cancelTimer, requestCancelActivity } = command;
  if (cancelTimer) return `timer ${cancelTimer.seq}`;
  if (requestCancelActivity) return `activity ${requestCancelActivity.seq}`;
  return cancelChildWorkflowExecution
    ? `child ${cancelChildWorkflowExecution.childWorkflowSeq}`
    : undefined;
};

/** Enough for the SDK's frames and those of a workflow of many steps; with Node's 10 it would end amid them. */
const STACK_FRAMES = 100;

const stacksOfPromises = (): ReadonlyArray<string> => {
  const stacks: unknown = getActivator().queryHandlers.get("__stack_trace")?.handler();
  if (!(stacks instanceof RawValue)) return [];
  return defaultPayloadConverter.fromPayload<string>(stacks.payload).split("\n\n");
};

/** Returns where the caller of a function stands: the stack without the function itself. */
const stackOfCaller = (callee: (...args: Array<never>) => unknown): string => {
  const error = new Error("recorded");
  Error.captureStackTrace(error, callee);
  return error.stack ?? "";
};

/**
 * Interceptor of a workflow that is replayed: it changes nothing, and reports by a sink what the code
 * did, and in which lines.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  Error.stackTraceLimit = STACK_FRAMES;
  const activator = getActivator();
  const { replayRecorder } = proxySinks<RecorderSinks>();
  const push = activator.pushCommand.bind(activator);
  let commands: Array<RecordedCommand> = [];
  let takenBack: Array<string> = [];
  // The interceptors of the SDK are asynchronous before some commands; here the caller is still on the stack.
  const record: typeof push = (command, isLast) => {
    const recorded = recordedAs(command);
    const key = takesBack(command);
    if (recorded !== undefined) {
      const stack = command.failWorkflowExecution?.failure?.stackTrace ?? stackOfCaller(record);
      commands.push({ ...recorded, stack });
    }
    if (key !== undefined) takenBack.push(key);
    push(command, isLast);
  };
  activator.pushCommand = record;
  return {
    internals: [
      {
        concludeActivation: (input, next) => {
          replayRecorder.activation({
            task: workflowInfo().historyLength,
            commands,
            takenBack,
            waitsAt: stacksOfPromises(),
          });
          commands = [];
          takenBack = [];
          return next(input);
        },
      },
    ],
  };
};
