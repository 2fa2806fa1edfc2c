export {
  openTracing,
  type SpanOptions,
  type Tracing,
  type TracingOptions,
  traceparentOf,
  tracingEndpoint,
} from "./tracing/tracing.ts";
