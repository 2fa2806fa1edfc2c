import type { Tracing } from "@durable-payments/api-core/tracing";
import { traceparentOf } from "@durable-payments/api-core/tracing";
import { traceHeader } from "@durable-payments/protocol";
import type { WorkflowClientInterceptor } from "@temporalio/client";

/** A start of a run, as far as it is read here. */
interface Start {
  readonly headers: Parameters<
    NonNullable<WorkflowClientInterceptor["signalWithStart"]>
  >[0]["headers"];
}

/**
 * Make an interceptor of a client by which each start of a run begins a trace: its first span is the start, and the
 * worker's are within it.
 *
 * @param tracing what `openTracing` of `@durable-payments/api-core/tracing` gives.
 * @returns the interceptor, for `TemporalSettings`.
 * @example
 * const tracing = await openTracing(process.env, { serviceName: "billing", warn: console.warn });
 * const settings = { ...temporalSettings(process.env), interceptors: tracing ? [traceStarts(tracing)] : [] };
 */
export const traceStarts = ({ within }: Tracing): WorkflowClientInterceptor => {
  const starting = <Input extends Start, Started>(
    workflowType: string,
    workflowId: string,
    input: Input,
    start: (input: Input) => Promise<Started>,
  ): Promise<Started> =>
    within(
      {
        name: `StartWorkflow:${workflowType}`,
        kind: "producer",
        attributes: { "temporal.workflow.type": workflowType, "temporal.workflow.id": workflowId },
      },
      (span) =>
        start({ ...input, headers: { ...input.headers, ...traceHeader(traceparentOf(span)) } }),
    );
  return {
    startWithDetails: (input, next) =>
      starting(input.workflowType, input.options.workflowId, input, next),
    signalWithStart: (input, next) =>
      starting(input.workflowType, input.options.workflowId, input, next),
  };
};
