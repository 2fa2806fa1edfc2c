import type { TRACE_HEADER } from "@durable-payments/protocol";
import type { Headers, WorkflowInterceptors } from "@temporalio/workflow";

// Only types are imported: this module is added to every bundle, so it must not need resolution.
const HEADER: typeof TRACE_HEADER = "_tracer-data";

/**
 * Passes the trace of a run's start, unchanged, to its activities, its children and the run that continues it. Without a
 * trace, nothing changes. No span is made here: each replay would make the span of a run again, and it would not end
 * while the run waits for weeks.
 *
 * @returns interceptors of one run, for the SDK.
 */
export const interceptors = (): WorkflowInterceptors => {
  let trace: Headers | undefined;
  const handOn = <Input extends { readonly headers: Headers }, Output>(
    input: Input,
    next: (input: Input) => Output,
  ): Output =>
    next(trace === undefined ? input : { ...input, headers: { ...trace, ...input.headers } });
  return {
    inbound: [
      {
        execute: (input, next) => {
          const header = input.headers[HEADER];
          if (header !== undefined) trace = { [HEADER]: header };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: handOn,
        scheduleLocalActivity: handOn,
        startChildWorkflowExecution: handOn,
        continueAsNew: handOn,
      },
    ],
  };
};
