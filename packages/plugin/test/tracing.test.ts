import { CompleteAsyncError } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/client";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { attemptSpans, openTracing, type Tracing, tracingEndpoint } from "../src/tracing.ts";

const IBAN = "DE89370400440532013000";
const TRACE = "0af7651916cd43dd8448eb211c80319c";

interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: object }>;
  readonly status: { readonly code: number; readonly message?: string };
}

const open = (url: string, warn: (message: string) => void = () => undefined) =>
  openTracing(
    url,
    { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key" },
    warn,
  );

interface Received {
  readonly path: string | undefined;
  readonly key: unknown;
  readonly body: string;
}

/** A collector that answers, or never does. */
const startCollector = async (answers = true) => {
  const requests: Array<Received> = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    requests.push({ path: request.url, key: request.headers["x-key"], body });
    if (answers) response.end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
};

const spansOf = (exported: ReadonlyArray<Received>): ReadonlyArray<ExportedSpan> =>
  exported.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: ReadonlyArray<{
        scopeSpans: ReadonlyArray<{ spans: ReadonlyArray<ExportedSpan> }>;
      }>;
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });

/** Runs an attempt of an activity whose run was started within a trace. */
const within = async (tracing: Tracing, use: () => Promise<unknown>, flags = "01") => {
  const info = { activityType: "createPayout", activityId: "1", attempt: 2, taskQueue: "payments" };
  const { inbound } = attemptSpans(() => tracing)({ info } as never);
  const carrier = { traceparent: `00-${TRACE}-b7ad6b7169203331-${flags}` };
  const headers = { "_tracer-data": { data: Buffer.from(JSON.stringify(carrier)) } };
  return inbound?.execute?.({ args: [], headers }, use);
};

it("exports nothing unless a collector is named", () => {
  const endpoint = "http://collector:4318";
  for (const environment of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: "true" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: "none" },
  ]) {
    expect(tracingEndpoint(environment)).toBeUndefined();
  }
  expect(tracingEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toBe(endpoint);
  expect(() => tracingEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" })).toThrow(
    "OTEL_EXPORTER_OTLP_ENDPOINT must be the http or https address of a collector",
  );
});

it("exports spans of one trace, with the type of an error and without its text", async () => {
  await using collector = await startCollector();
  const tracing = await open(collector.url);
  const refused = Object.assign(new Error(`the IBAN ${IBAN}`), { type: "Refused" });
  // The very error, since the SDK knows its own by their classes.
  await expect(within(tracing, () => Promise.reject(refused))).rejects.toBe(refused);
  await within(tracing, () => Promise.resolve(), "00");
  await tracing.close();
  expect(collector.requests).toHaveLength(1);
  const [exported] = collector.requests;
  expect(exported).toMatchObject({ path: "/v1/traces", key: "a key" });
  expect(exported?.body).toContain('"durable-payments-worker"');
  expect(exported?.body).not.toContain(IBAN);
  expect(exported?.body).not.toContain(".ts:");
  expect(spansOf(collector.requests)).toMatchObject([
    {
      traceId: TRACE,
      parentSpanId: "b7ad6b7169203331",
      name: "RunActivity:createPayout",
      attributes: expect.arrayContaining([
        { key: "temporal.activity.attempt", value: { intValue: 2 } },
        { key: "error.type", value: { stringValue: "Refused" } },
      ]),
      status: { code: 2, message: "Refused" },
    },
  ]);
});

it("shows an attempt that waits without an error", async () => {
  await using collector = await startCollector();
  const tracing = await open(collector.url);
  const waits = [
    ApplicationFailure.create({ type: "NotYet", category: "BENIGN" }),
    new CompleteAsyncError(),
  ];
  for (const wait of waits)
    await expect(within(tracing, () => Promise.reject(wait))).rejects.toBe(wait);
  await tracing.close();
  expect(spansOf(collector.requests).map(({ status }) => status.code)).toEqual([1, 1]);
});

it("waits two seconds at most for a collector that does not answer, and fails nothing", async () => {
  await using collector = await startCollector(false);
  const tracing = await open(collector.url);
  expect(await within(tracing, () => Promise.resolve("paid"))).toBe("paid");
  const began = performance.now();
  await tracing.close();
  expect(performance.now() - began).toBeLessThan(4000);
  expect(collector.requests).toHaveLength(1);
});

it("says once that a collector cannot be reached", async () => {
  const warnings: Array<string> = [];
  const tracing = await open("http://127.0.0.1:1", (message) => warnings.push(message));
  await within(tracing, () => Promise.resolve());
  await tracing.close();
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(
    /^Traces cannot be exported to 127\.0\.0\.1:1: .*\. Payments continue without them\.$/,
  );
});
