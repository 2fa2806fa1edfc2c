import {
  isPaymentsError,
  type OperationName,
  PaymentsClient,
  type PaymentsError,
  type RequestOptions,
} from "@durable-payments/client/effect";
import type { Ledger } from "@durable-payments/ledger";
import { NOT_YET } from "@durable-payments/protocol/calls";
import { Context } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import { Cause, Effect, Exit, type ManagedRuntime, Result, Tracer } from "effect";
import { AsyncLocalStorage } from "node:async_hooks";
import { isNotFound } from "./write/outcomes.ts";

/** The span of an activity's attempt, and the tracer of the spans within it. */
export interface AttemptTrace {
  /** Makes the spans of the attempt's calls. */
  readonly tracer: Tracer.Tracer;
  /** The attempt's own. */
  readonly span: Tracer.Span;
}

const current = new AsyncLocalStorage<AttemptTrace>();

/** Runs an attempt of an activity so that its calls of the service are within its span. */
export const inAttemptTrace = <A>(trace: AttemptTrace, attempt: () => Promise<A>): Promise<A> =>
  current.run(trace, attempt);

/** The effect within the span of the attempt that runs it, if that is traced. */
const withinAttempt = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const trace = current.getStore();
  return trace === undefined
    ? effect
    : Effect.provideService(effect, Tracer.ParentSpan, trace.span).pipe(
        Effect.withTracer(trace.tracer),
      );
};

/** The runtime that all activities of a worker share: it holds the client, its session and its connections. */
export type PaymentsRuntime = ManagedRuntime.ManagedRuntime<PaymentsClient, unknown>;

/** The client of an account. */
export type Service = PaymentsClient["Service"];

/** The client and the ledger of an account. */
export interface AccountOptions {
  readonly runtime: PaymentsRuntime;
  readonly ledger: Ledger;
  /** Hash of the account that the ledger has its writes under. */
  readonly account: () => Promise<string>;
}

/** The options of the runtime's client, its assumptions among them. */
export const optionsOf = (runtime: PaymentsRuntime): Promise<Service["options"]> =>
  runtime.runPromise(Effect.map(PaymentsClient, ({ options }) => options));

/** Returns an operation of the client by its name: it checks its input by the contract. */
export const operationOf = (
  client: Service,
  name: OperationName,
): ((input: unknown, options?: RequestOptions) => Effect.Effect<unknown, PaymentsError>) =>
  client[name] as ReturnType<typeof operationOf>;

/** The option of a background read: calls that move money go first. */
export const LAST = { priority: "last" } as const;

/** A call of the client. */
export type ClientCall<A> = (client: Service) => Effect.Effect<A, PaymentsError>;

/**
 * Runs a call of the client until it ends or `signal` aborts, which closes the HTTP request at once. Throws the reason of
 * `signal`; the client's own errors are results.
 */
export const runCall = async <A>(
  runtime: PaymentsRuntime,
  call: ClientCall<A>,
  signal: AbortSignal,
): Promise<Result.Result<A, PaymentsError>> => {
  const exit = await runtime.runPromiseExit(
    withinAttempt(Effect.flatMap(PaymentsClient, (client) => Effect.result(call(client)))),
    { signal },
  );
  if (Exit.isSuccess(exit)) return exit.value;
  // An interruption is the cancellation; it must not be recorded as a failure to be retried.
  if (Cause.hasInterrupts(exit.cause) && signal.aborted) throw signal.reason;
  throw Cause.squash(exit.cause);
};

/** Reads at the service. Rejects with the PaymentsError if it cannot be read. */
export const readAt = async <A>(
  runtime: PaymentsRuntime,
  call: ClientCall<A>,
  signal: AbortSignal = new AbortController().signal,
): Promise<A> => {
  const read = await runCall(runtime, call, signal);
  if (Result.isSuccess(read)) return read.success;
  throw read.failure;
};

/** As {@link readAt}. Returns undefined if the service does not know what is read. */
export const readKnown = <A>(...read: Parameters<typeof readAt<A>>): Promise<A | undefined> =>
  readAt(...read).catch((error: unknown) => {
    if (isPaymentsError(error) && isNotFound(error)) return undefined;
    throw error;
  });

/** Runs a promise until `signal` aborts; then rejects with the reason of `signal`. */
export const orAborted = async <A>(work: () => Promise<A>, signal: AbortSignal): Promise<A> => {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
};

/** The server ends an activity at once if its next attempt would begin after its end. */
const SHARE_OF_REST = 0.9;
const SHORTEST_MS = 100;

/**
 * Returns the failure after which Temporal tries again: no event in the history, and the reason in its Web UI. The delay
 * is limited to the rest of the wait.
 */
export const notYet = (why: string, delayMs: number): ApplicationFailure => {
  const { currentAttemptScheduledTimestampMs, scheduleToCloseTimeoutMs, scheduledTimestampMs } =
    Context.current().info;
  // Both times are the server's, so the worker's clock does not matter. Zero means no end.
  const leftMs =
    scheduleToCloseTimeoutMs > 0
      ? scheduledTimestampMs + scheduleToCloseTimeoutMs - currentAttemptScheduledTimestampMs
      : Number.POSITIVE_INFINITY;
  return ApplicationFailure.create({
    type: NOT_YET,
    message: why,
    nextRetryDelay: Math.round(Math.max(SHORTEST_MS, Math.min(delayMs, leftMs * SHARE_OF_REST))),
    category: ApplicationFailureCategory.BENIGN,
  });
};
