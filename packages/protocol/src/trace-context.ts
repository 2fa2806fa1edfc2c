import { isRecord } from "@durable-payments/api-core/values";
import type { Payload } from "@temporalio/common";

/** The header in which OpenTelemetry's interceptors of Temporal's SDKs hand on which trace a run belongs to. */
export const TRACE_HEADER = "_tracer-data";

/** W3C's `traceparent`: version, trace, span, flags. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** Reads W3C's `traceparent` in the headers of an activity; undefined where there is none, or it is none. */
export const traceparentIn = ({
  [TRACE_HEADER]: header,
}: Readonly<Record<string, Payload>>): string | undefined => {
  try {
    const carrier: unknown = JSON.parse(new TextDecoder().decode(header?.data ?? undefined));
    const traceparent = isRecord(carrier) ? carrier["traceparent"] : undefined;
    return typeof traceparent === "string" && TRACEPARENT.test(traceparent)
      ? traceparent
      : undefined;
  } catch {
    // Another interceptor's.
    return undefined;
  }
};
