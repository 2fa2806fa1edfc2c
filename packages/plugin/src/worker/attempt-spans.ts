import { inAttemptTrace } from "@durable-payments/activities";
import { messageOf } from "@durable-payments/api-core/values";
import { traceparentIn } from "@durable-payments/protocol";
import { type ActivityInterceptorsFactory, Runtime } from "@temporalio/worker";
import { CannotStart } from "../cannot-start.ts";
import type { Environment } from "../settings/worker-process.ts";
import { openTracing, type Tracing, tracingEndpoint } from "./tracing.ts";

type Info = Parameters<ActivityInterceptorsFactory>[0]["info"];

/**
 * Read whether a worker traces.
 *
 * @throws CannotStart for an address of a collector that is none.
 */
export const isTraced = (environment: Environment): boolean => {
  try {
    return tracingEndpoint(environment) !== undefined;
  } catch (error) {
    throw new CannotStart(`${messageOf(error)}.`);
  }
};

/**
 * Open the export of a worker's traces.
 *
 * @returns undefined where it exports none.
 * @throws CannotStart where a variable is wrong.
 */
export const openWorkerTracing = async (environment: Environment): Promise<Tracing | undefined> => {
  try {
    return await openTracing(environment, {
      serviceName: "durable-payments-worker",
      warn: (message) => void Runtime.instance().logger.warn(message),
    });
  } catch (error) {
    throw new CannotStart(`${messageOf(error)}.`);
  }
};

/**
 * The trace of a run that was started without one has the run's id, so that all attempts of a run are of one trace in
 * any case. Its root was never exported.
 */
const ownTraceparent = ({ workflowExecution }: Info): string | undefined => {
  const id = workflowExecution?.runId.replaceAll("-", "");
  return id === undefined || !/^[\da-f]{32}$/.test(id) ? undefined : `00-${id}-${id.slice(16)}-01`;
};

const attributesOf = (info: Info) => ({
  ...(info.workflowType !== undefined && { "temporal.workflow.type": info.workflowType }),
  ...(info.workflowExecution && {
    "temporal.workflow.id": info.workflowExecution.workflowId,
    "temporal.run.id": info.workflowExecution.runId,
  }),
  "temporal.activity.type": info.activityType,
  "temporal.activity.id": info.activityId,
  "temporal.activity.attempt": info.attempt,
  "temporal.task_queue": info.taskQueue,
});

/**
 * Make the interceptor that gives each attempt of an activity a span, within the trace of its run.
 *
 * @param tracing that of the worker, undefined while it does not run.
 */
export const attemptSpans =
  (tracing: () => Tracing | undefined): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute: (input, next) => {
        const open = tracing();
        if (open === undefined) return next(input);
        const { tracer, within } = open;
        return within(
          {
            name: `RunActivity:${info.activityType}`,
            kind: "consumer",
            traceparent: traceparentIn(input.headers) ?? ownTraceparent(info),
            attributes: attributesOf(info),
          },
          (span) => inAttemptTrace({ tracer, span }, () => next(input)),
        );
      },
    },
  });
