import type { TRACE_HEADER } from "@durable-payments/protocol";
import type { Headers, WorkflowInterceptors } from "@temporalio/workflow";

// Only its type is imported: this module is added to every bundle, and needs nothing that the bundler has to find.
const HEADER: typeof TRACE_HEADER = "_tracer-data";

/**
 * Hand on the trace to which the start of a run belongs, as it came: to its activities, its children and the run that
 * goes on after it. A run that was started without one schedules what it would without this. No span is made here: that
 * of a run would be made anew by each replay, and never end where a run waits for weeks.
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
