import * as Effect from "effect/Effect";
import * as Tracer from "effect/Tracer";
import { AsyncLocalStorage } from "node:async_hooks";

/** The span of an activity's attempt, and what makes those within it. */
export interface AttemptTrace {
  /** Makes the spans of what the attempt calls. */
  readonly tracer: Tracer.Tracer;
  /** The attempt's own. */
  readonly span: Tracer.Span;
}

const current = new AsyncLocalStorage<AttemptTrace>();

/**
 * Run an attempt of an activity so that what it calls of the service is within its span.
 *
 * @param trace the attempt's.
 * @param attempt what it does.
 * @returns what `attempt` returns.
 */
export const inAttemptTrace = <A>(trace: AttemptTrace, attempt: () => Promise<A>): Promise<A> =>
  current.run(trace, attempt);

/** The effect within the span of the attempt that runs it, where that is traced. */
export const withinAttempt = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const trace = current.getStore();
  return trace === undefined
    ? effect
    : Effect.provideService(effect, Tracer.ParentSpan, trace.span).pipe(
        Effect.withTracer(trace.tracer),
      );
};
