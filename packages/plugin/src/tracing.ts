import type * as Tracer from "effect/Tracer";

/** What a span is, and the span within which it is. */
export interface SpanOptions {
  /** Its name, which is no value. */
  readonly name: string;
  /** Whether it is done here, asks somebody or is asked. */
  readonly kind: Tracer.SpanKind;
  /** The span within which it is, as W3C's `traceparent` names it; left out, it begins a trace. */
  readonly traceparent?: string | undefined;
  /** What it tells, by OpenTelemetry's names: ids and types. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Traces as they are exported while a process runs. */
export interface Tracing {
  /** For `Effect.withTracer`: what the client calls within has spans. */
  readonly tracer: Tracer.Tracer;
  /** Do something within a span, which ends with it, and has the type of its error. */
  readonly within: <A>(options: SpanOptions, use: (span: Tracer.Span) => Promise<A>) => Promise<A>;
  /** Export what has ended, for two seconds at most (`OTEL_EXPORTER_OTLP_TIMEOUT`), and stop. */
  readonly close: () => Promise<void>;
}

/** How traces are exported, beside what the environment says. */
export interface TracingOptions {
  /** The service's name where `OTEL_SERVICE_NAME` gives none. */
  readonly serviceName: string;
  /** Gets, once for each outage, that traces cannot be exported. */
  readonly warn: (message: string) => void;
}

type Environment = Readonly<Record<string, string | undefined>>;

const OWN = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const SHARED = "OTEL_EXPORTER_OTLP_ENDPOINT";

/**
 * Read where traces are exported to, by OpenTelemetry's variables.
 *
 * @param environment variables by name: `OTEL_EXPORTER_OTLP_ENDPOINT` or that of traces alone, `OTEL_TRACES_EXPORTER`,
 *   `OTEL_SDK_DISABLED`.
 * @returns the address that they give; undefined where nothing is exported.
 * @throws Error where it is none.
 */
export const tracingEndpoint = (environment: Environment): string | undefined => {
  const name = environment[OWN] ? OWN : SHARED;
  const endpoint = environment[name];
  if (!endpoint || environment["OTEL_SDK_DISABLED"] === "true") return undefined;
  if (!(environment["OTEL_TRACES_EXPORTER"] || "otlp").split(",").includes("otlp")) {
    return undefined;
  }
  const isHttp = URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol);
  if (!isHttp) throw new Error(`${name} must be the address of a collector, by http or https`);
  return endpoint;
};

/**
 * Open the export of traces by OTLP, as JSON over HTTP, where OpenTelemetry's variables name a collector. What exports
 * is loaded only then.
 *
 * @param environment variables by name, `OTEL_*`.
 * @returns undefined where nothing is exported.
 * @throws Error where a variable is wrong.
 */
export const openTracing = async (
  environment: Environment,
  options: TracingOptions,
): Promise<Tracing | undefined> => {
  const endpoint = tracingEndpoint(environment);
  if (endpoint === undefined) return undefined;
  const { openOtlpTracing } = await import("./otlp-tracing.ts");
  return openOtlpTracing(endpoint, environment, options);
};
