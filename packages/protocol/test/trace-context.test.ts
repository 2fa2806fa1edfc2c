import { expect, it } from "vitest";
import { TRACE_HEADER, traceparentIn } from "../src/index.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const headerOf = (text: string) => ({ [TRACE_HEADER]: { data: new TextEncoder().encode(text) } });

it("reads a trace as OpenTelemetry's interceptors of Temporal's SDKs hand it on", () => {
  expect(TRACE_HEADER).toBe("_tracer-data");
  expect(traceparentIn(headerOf(`{"traceparent":"${TRACEPARENT}"}`))).toBe(TRACEPARENT);
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
