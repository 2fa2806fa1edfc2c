import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as ConfigProvider from "effect/ConfigProvider";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as FetchHttpClient from "effect/http/FetchHttpClient";
import * as Headers from "effect/http/Headers";
import * as HttpClient from "effect/http/HttpClient";
import * as HttpTraceContext from "effect/http/HttpTraceContext";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import * as OtlpSerialization from "effect/observability/OtlpSerialization";
import * as OtlpTracer from "effect/observability/OtlpTracer";
import * as Option from "effect/Option";
import * as Tracer from "effect/Tracer";
import { isRecord, messageOf } from "@durable-payments/api-core/values";
import type { SpanOptions, Tracing, TracingOptions } from "./tracing.ts";

/** Longest time that the collector may take for one answer; then nothing is exported for a minute. */
const ANSWER_WITHIN = "5 seconds";

/** Longest wait for the collector at the end, in milliseconds. */
const CLOSE_WITHIN_MS = "2000";

/** What types of errors are called; anything else may be a text with values in it. */
const TYPE_NAME = /^[\w.-]{1,100}$/;

/** What kind of error it is: its tag, the type of Temporal's failure, or its name. */
const errorTypeOf = (error: unknown): string => {
  const known = isRecord(error) && error["_tag"] === "Failed" ? error["error"] : error;
  if (!isRecord(known)) return "Error";
  const type = [known["_tag"], known["type"], known["name"]].find(
    (each): each is string => typeof each === "string" && TYPE_NAME.test(each),
  );
  return type ?? "Error";
};

/**
 * Have spans tell the type of an error, and neither its message nor its stack, which may repeat what was sent. Lines
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
          const type = errorTypeOf(Cause.squash(exit.cause));
          span.attribute("error.type", type);
          end(time, Exit.fail({ name: type, message: type, stack: "" }));
        },
      });
    },
  });

/** A client that gives up on a collector which does not answer, and says once that it does not. */
const exportingClient = (endpoint: string, { warn }: TracingOptions) => {
  const { host } = new URL(endpoint);
  let isTold = false;
  const failed = (why: string) =>
    Effect.sync(() => {
      if (!isTold) warn(`Traces cannot be exported to ${host}: ${why}. Payments go on without.`);
      isTold = true;
    });
  return Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.transformResponse(client, (response) =>
        response.pipe(
          Effect.timeoutOrElse({
            duration: ANSWER_WITHIN,
            // Not to be tried again at once.
            orElse: () => Effect.die(new Error("it does not answer")),
          }),
          Effect.tap(({ status }) => {
            if (status >= 400) return failed(`it answers ${status}`);
            isTold = false;
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
    // Headers with a credential go where the environment says, and nowhere else.
    Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
  );
};

const parentOf = (traceparent: string | undefined): Option.Option<Tracer.AnySpan> =>
  traceparent === undefined
    ? Option.none()
    : HttpTraceContext.w3c(Headers.fromInput({ traceparent }));

const now = (): bigint => Effect.runSync(Clock.currentTimeNanos);

const withinSpan = async <A>(
  tracer: Tracer.Tracer,
  { attributes, kind, name, traceparent }: SpanOptions,
  use: (span: Tracer.Span) => Promise<A>,
): Promise<A> => {
  const parent = parentOf(traceparent);
  const span = tracer.span({
    name,
    kind,
    parent,
    root: Option.isNone(parent),
    sampled: Option.isNone(parent) || parent.value.sampled,
    annotations: Context.empty(),
    links: [],
    startTime: now(),
  });
  for (const [key, value] of Object.entries(attributes)) span.attribute(key, value);
  try {
    const result = await use(span);
    span.end(now(), Exit.void);
    return result;
  } catch (error) {
    span.end(now(), Exit.fail(error));
    throw error;
  }
};

/**
 * Open the export of traces.
 *
 * @throws Error where a variable is wrong.
 */
export const openOtlpTracing = async (
  endpoint: string,
  environment: Readonly<Record<string, string | undefined>>,
  options: TracingOptions,
): Promise<Tracing> => {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  const isNamed = given["OTEL_RESOURCE_ATTRIBUTES"]?.includes("service.name=") ?? false;
  const variables = ConfigProvider.fromEnvRecord({
    OTEL_EXPORTER_OTLP_TIMEOUT: CLOSE_WITHIN_MS,
    ...(!isNamed && { OTEL_SERVICE_NAME: options.serviceName }),
    ...given,
    OTEL_TRACES_EXPORTER: "otlp",
  });
  const runtime = ManagedRuntime.make(
    OtlpTracer.layerFromConfig().pipe(
      Layer.provide(OtlpSerialization.layerJson),
      Layer.provide(exportingClient(endpoint, options)),
      Layer.provide(Layer.succeed(ConfigProvider.ConfigProvider, variables)),
    ),
  );
  const tracer = withoutTexts(
    await runtime.runPromise(Effect.tracer).catch((error: unknown) => {
      throw new Error(`OTEL_* cannot be used: ${messageOf(error)}`);
    }),
  );
  return {
    tracer,
    within: (span, use) => withinSpan(tracer, span, use),
    close: () => runtime.dispose(),
  };
};
