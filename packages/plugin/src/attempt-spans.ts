import { inAttemptTrace } from "@durable-payments/activities";
import { openTracing, type Tracing } from "./tracing.ts";
import { traceparentIn } from "@durable-payments/protocol";
import { type ActivityInterceptorsFactory, Runtime } from "@temporalio/worker";
import type { WorkerProcess } from "./settings.ts";

type Environment = WorkerProcess["environment"];

type Info = Parameters<ActivityInterceptorsFactory>[0]["info"];

/** Opens the export of a worker's traces; undefined if the environment names no collector. */
export const openWorkerTracing = (environment: Environment): Promise<Tracing | undefined> =>
  openTracing(environment, {
    serviceName: "durable-payments-worker",
    warn: (message) => void Runtime.instance().logger.warn(message),
  });

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
 * Makes the interceptor that gives each attempt of an activity a span, within the trace of its run.
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
