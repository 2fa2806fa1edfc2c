import { expect, it } from "vitest";
import { TRACE_HEADER, traceHeader, traceparentIn } from "../src/index.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const headerOf = (text: string) => ({ [TRACE_HEADER]: { data: new TextEncoder().encode(text) } });

it("hands on a trace as OpenTelemetry's interceptors of Temporal's SDKs do", () => {
  const headers = traceHeader(TRACEPARENT);
  const { data, metadata } = headers["_tracer-data"] ?? {};
  expect(new TextDecoder().decode(data ?? undefined)).toBe(`{"traceparent":"${TRACEPARENT}"}`);
  expect(new TextDecoder().decode(metadata?.["encoding"])).toBe("json/plain");
  expect(traceparentIn(headers)).toBe(TRACEPARENT);
});

it.each([
  "",
  "no JSON",
  "null",
  '{"traceparent":7}',
  '{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"}',
  `{"traceparent":"01${TRACEPARENT.slice(2)}"}`,
  `{"traceparent":"00-${"0".repeat(32)}-b7ad6b7169203331-01"}`,
  `{"traceparent":"${TRACEPARENT}\\r\\nx-auth-token: stolen"}`,
])("takes %j for no trace", (text) => {
  expect(traceparentIn(headerOf(text))).toBeUndefined();
});

it("finds no trace where none was handed on", () => {
  expect(traceparentIn({})).toBeUndefined();
});
