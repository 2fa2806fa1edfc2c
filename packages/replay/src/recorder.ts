import { defaultPayloadConverter, RawValue } from "@temporalio/common";
import { proxySinks, workflowInfo, type WorkflowInterceptorsFactory } from "@temporalio/workflow";
import { getActivator } from "@temporalio/workflow/lib/global-attributes.js";
import { type RecordedCommand, type RecorderSinks, stepOf } from "./record.ts";

/** Enough for the SDK's frames and those of a workflow of many steps; with Node's 10 it would end amid them. */
const STACK_FRAMES = 100;

const stacksOfPromises = (): ReadonlyArray<string> => {
  const stacks: unknown = getActivator().queryHandlers.get("__stack_trace")?.handler();
  if (!(stacks instanceof RawValue)) return [];
  return defaultPayloadConverter.fromPayload<string>(stacks.payload).split("\n\n");
};

/** Returns where the caller of a function is: the stack without the function itself. */
const stackOfCaller = (callee: (...args: Array<never>) => unknown): string => {
  const error = new Error("recorded");
  Error.captureStackTrace(error, callee);
  return error.stack ?? "";
};

/**
 * Interceptor of a workflow that is replayed: it changes nothing, and reports by a sink in which lines the code gave its
 * commands, and the steps of its activities.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  // A worker that shares a context among runs has frozen it, and asks for no places.
  Reflect.set(Error, "stackTraceLimit", STACK_FRAMES);
  const activator = getActivator();
  const { replayRecorder } = proxySinks<RecorderSinks>();
  const push = activator.pushCommand.bind(activator);
  let commands: Array<RecordedCommand> = [];
  // The interceptors of the SDK are asynchronous before some commands; here the caller is still on the stack.
  const record: typeof push = (command, isLast) => {
    const { activityId, arguments: input } = command.scheduleActivity ?? {};
    const step = stepOf(input);
    const stack = command.failWorkflowExecution?.failure?.stackTrace ?? stackOfCaller(record);
    commands.push({
      stack,
      ...(activityId && { activityId }),
      ...(step !== undefined && { step }),
    });
    push(command, isLast);
  };
  activator.pushCommand = record;
  return {
    internals: [
      {
        concludeActivation: (input, next) => {
          const task = workflowInfo().historyLength;
          replayRecorder.activation({ task, commands, waitsAt: stacksOfPromises() });
          commands = [];
          return next(input);
        },
      },
    ],
  };
};
