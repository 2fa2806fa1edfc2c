import { inAttemptTrace } from "@durable-payments/activities";
import { isRecord, messageOf } from "@durable-payments/client/values";
import { traceparentIn } from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/client";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { Cause, ConfigProvider, Effect, Exit, Layer, ManagedRuntime, Option, Tracer } from "effect";
import * as FetchHttpClient from "effect/http/FetchHttpClient";
import * as Headers from "effect/http/Headers";
import * as HttpClient from "effect/http/HttpClient";
import * as HttpTraceContext from "effect/http/HttpTraceContext";
import * as OtlpSerialization from "effect/observability/OtlpSerialization";
import * as OtlpTracer from "effect/observability/OtlpTracer";

type Environment = Readonly<Record<string, string | undefined>>;

/** Export of traces, as long as a worker runs. */
export interface Tracing {
  readonly tracer: Tracer.Tracer;
  /** Exports the ended spans, for two seconds at most (`OTEL_EXPORTER_OTLP_TIMEOUT`), and stops. */
  readonly close: () => Promise<void>;
}

/** Longest time for a response of the collector; after that, nothing is exported for a minute. */
const ANSWER_WITHIN = "5 seconds";
const CLOSE_WITHIN_MS = "2000";

/**
 * Returns the address of the collector by OpenTelemetry's variables; undefined if traces are not exported.
 *
 * @throws Error if the address is invalid.
 */
export const tracingEndpoint = (environment: Environment): string | undefined => {
  const name = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
    ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    : "OTEL_EXPORTER_OTLP_ENDPOINT";
  const endpoint = environment[name];
  const exporters = (environment["OTEL_TRACES_EXPORTER"] || "otlp").split(",");
  const isOff = environment["OTEL_SDK_DISABLED"] === "true" || !exporters.includes("otlp");
  if (!endpoint || isOff) return undefined;
  if (/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) return endpoint;
  throw new Error(`${name} must be the http or https address of a collector`);
};

/** The name of an error's type; anything else may be a text with values in it. */
const TYPE_NAME = /^[\w.-]{1,100}$/;

/** Returns the kind of an error: its tag, the type of Temporal's failure, or its name. */
const errorTypeOf = (error: unknown): string => {
  const known = isRecord(error) && error["_tag"] === "Failed" ? error["error"] : error;
  if (!isRecord(known)) return "Error";
  const type = [known["_tag"], known["type"], known["name"]].find(
    (each): each is string => typeof each === "string" && TYPE_NAME.test(each),
  );
  return type ?? "Error";
};

/** Whether an attempt ended because it waits: it tries again later, or something else completes its activity. */
const isWait = (error: unknown): boolean =>
  error instanceof ApplicationFailure
    ? error.category === "BENIGN"
    : error instanceof Error && error.name === "CompleteAsyncError";

/**
 * Keeps the type of an error in spans, but not its message or its stack, which may repeat the request. Lines
 * of the log, which Effect adds to spans, are left out, too.
 */
const withoutTexts = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = tracer.span(options);
      const end = span.end.bind(span);
      return Object.assign(span, {
        event: () => undefined,
        end: (time: bigint, exit: Exit.Exit<unknown, unknown>) => {
          if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return end(time, exit);
          const error = Cause.squash(exit.cause);
          if (isWait(error)) return end(time, Exit.void);
          const type = errorTypeOf(error);
          span.attribute("error.type", type);
          end(time, Exit.fail({ name: type, message: type, stack: "" }));
        },
      });
    },
  });

/** Gives up on a collector that does not respond, and warns once of each outage. */
const exportingClient = (endpoint: string, warn: (message: string) => void) => {
  const { host } = new URL(endpoint);
  let hasWarned = false;
  const failed = (why: string) =>
    Effect.sync(() => {
      if (hasWarned) return;
      hasWarned = true;
      warn(`Traces cannot be exported to ${host}: ${why}. Payments continue without them.`);
    });
  return Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transformResponse((response) =>
        response.pipe(
          // A defect is not retried.
          Effect.timeoutOrElse({
            duration: ANSWER_WITHIN,
            orElse: () => Effect.die(new Error("it does not respond")),
          }),
          Effect.tap(({ status }) => {
            if (status >= 400) return failed(`it responded with status ${status}`);
            hasWarned = false;
            return Effect.void;
          }),
          Effect.tapCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : failed(messageOf(Cause.squash(cause)).split("\n")[0] ?? ""),
          ),
        ),
      ),
    ),
  ).pipe(
    Layer.provide(FetchHttpClient.layer),
    // Headers with a credential reach the collector of the environment alone.
    Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
  );
};

/**
 * Opens the export of a worker's traces by OTLP, as JSON over HTTP, with the settings of OpenTelemetry's variables.
 *
 * @param endpoint result of {@link tracingEndpoint}.
 * @param warn is called once for each outage of the collector.
 * @throws Error if a variable is invalid.
 */
export const openTracing = async (
  endpoint: string,
  environment: Environment,
  warn: (message: string) => void,
): Promise<Tracing> => {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  const isNamed = given["OTEL_RESOURCE_ATTRIBUTES"]?.includes("service.name=") ?? false;
  const variables = ConfigProvider.fromEnvRecord({
    OTEL_EXPORTER_OTLP_TIMEOUT: CLOSE_WITHIN_MS,
    OTEL_TRACES_EXPORTER: "otlp",
    ...(!isNamed && { OTEL_SERVICE_NAME: "durable-payments-worker" }),
    ...given,
  });
  const runtime = ManagedRuntime.make(
    OtlpTracer.layerFromConfig().pipe(
      Layer.provide(OtlpSerialization.layerJson),
      Layer.provide(exportingClient(endpoint, warn)),
      Layer.provide(Layer.succeed(ConfigProvider.ConfigProvider, variables)),
    ),
  );
  const tracer = await runtime.runPromise(Effect.tracer).catch((error: unknown) => {
    throw new Error(`OTEL_* cannot be used: ${messageOf(error)}`);
  });
  return { tracer: withoutTexts(tracer), close: () => runtime.dispose() };
};

type Info = Parameters<ActivityInterceptorsFactory>[0]["info"];

/** Returns a parent whose trace has the run's id, so that all attempts of a run are in one trace. It is not exported. */
const traceparentOf = ({ workflowExecution }: Info): string | undefined => {
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
 * @param tracing the export of the worker; undefined while it does not run.
 */
export const attemptSpans =
  (tracing: () => Tracing | undefined): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute: (input, next) => {
        const { tracer } = tracing() ?? {};
        if (tracer === undefined) return next(input);
        const traceparent = traceparentIn(input.headers) ?? traceparentOf(info);
        const parent = Option.getOrUndefined(
          HttpTraceContext.w3c(Headers.fromInput({ traceparent })),
        );
        const span = {
          kind: "consumer",
          attributes: attributesOf(info),
          ...(parent === undefined ? { root: true } : { parent }),
        } as const;
        const attempt = Effect.useSpan(`RunActivity:${info.activityType}`, span, (current) =>
          // An error is a defect here, so that Temporal gets it as it is.
          Effect.promise(() => inAttemptTrace({ tracer, span: current }, () => next(input))),
        );
        return Effect.runPromise(Effect.withTracer(attempt, tracer));
      },
    },
  });
