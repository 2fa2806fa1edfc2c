import { isRecord } from "@durable-payments/api-core/values";
import type { Payload } from "@temporalio/common";

/** The header in which OpenTelemetry's interceptors of Temporal's SDKs hand on which trace a run belongs to. */
export const TRACE_HEADER = "_tracer-data";

/** W3C's `traceparent`: version, trace, span, flags. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

type Headers = Readonly<Record<string, Payload>>;

/**
 * Make the header of a start that hands on a trace.
 *
 * @param traceparent the span within which the run is started, as W3C names it.
 * @returns headers, for those of an interceptor.
 */
export const traceHeader = (traceparent: string): Headers => {
  const encoder = new TextEncoder();
  return {
    [TRACE_HEADER]: {
      metadata: { encoding: encoder.encode("json/plain") },
      data: encoder.encode(JSON.stringify({ traceparent })),
    },
  };
};

/**
 * Read which trace was handed on.
 *
 * @param headers of an activity, as whoever started the run has given them.
 * @returns W3C's `traceparent`; undefined where there is none, or it is none.
 */
export const traceparentIn = ({ [TRACE_HEADER]: header }: Headers): string | undefined => {
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
