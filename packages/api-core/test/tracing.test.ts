import { Cause, Effect, Exit } from "effect";
import { expect, it } from "vitest";
import { PaymentsClient } from "../src/index.ts";
import { openTracing, type Tracing, tracingEndpoint } from "../src/tracing.ts";
import { settingsFor } from "./support/client.ts";
import { requests } from "./support/requests.ts";
import { refusal, startServer, type TestServer } from "./support/server.ts";

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

const open = async (url: string, warn: (message: string) => void = () => undefined) => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key",
  };
  const tracing = await openTracing(environment, { serviceName: "payments", warn });
  if (tracing === undefined) throw new Error("nothing is exported");
  return tracing;
};

const startCollector = () => startServer(() => ({ body: {} }));

const spansOf = ({ requests: exported }: TestServer): ReadonlyArray<ExportedSpan> =>
  exported.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: ReadonlyArray<{
        scopeSpans: ReadonlyArray<{ spans: ReadonlyArray<ExportedSpan> }>;
      }>;
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });

const within = (tracing: Tracing, use: () => Promise<unknown>, flags = "01") =>
  tracing.within(
    {
      name: "attempt",
      kind: "consumer",
      traceparent: `00-${TRACE}-b7ad6b7169203331-${flags}`,
      attributes: { attempt: 2 },
    },
    use,
  );

it("exports nothing unless a collector is named", async () => {
  const options = { serviceName: "payments", warn: () => undefined };
  for (const environment of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318", OTEL_SDK_DISABLED: "true" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318", OTEL_TRACES_EXPORTER: "none" },
  ]) {
    expect(await openTracing(environment, options)).toBeUndefined();
  }
  expect(tracingEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" })).toBe(
    "http://collector:4318",
  );
  expect(() => tracingEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" })).toThrow(
    "OTEL_EXPORTER_OTLP_ENDPOINT must be the address of a collector, by http or https",
  );
});

it("exports spans of one trace, with the type of an error and without its text", async () => {
  await using collector = await startCollector();
  const tracing = await open(collector.url);
  const failing = within(tracing, () =>
    Promise.reject(Object.assign(new Error(`the IBAN ${IBAN}`), { type: "Refused" })),
  );
  await expect(failing).rejects.toThrow(IBAN);
  await within(tracing, () => Promise.resolve(), "00");
  await tracing.close();
  expect(collector.requests).toHaveLength(1);
  const [exported] = collector.requests;
  expect(exported).toMatchObject({ path: "/v1/traces", headers: { "x-key": "a key" } });
  expect(exported?.body).toContain('"payments"');
  expect(exported?.body).not.toContain(IBAN);
  expect(exported?.body).not.toContain(".ts:");
  expect(spansOf(collector)).toMatchObject([
    {
      traceId: TRACE,
      parentSpanId: "b7ad6b7169203331",
      name: "attempt",
      attributes: [
        { key: "attempt", value: { intValue: 2 } },
        { key: "error.type", value: { stringValue: "Refused" } },
      ],
      status: { code: 2, message: "Refused" },
    },
  ]);
});

it("has a span for each send of a call, of which the service is told", async () => {
  await using collector = await startCollector();
  const tracing = await open(collector.url);
  await using service = await startServer(() => refusal(`No ${IBAN}`));
  const exit = await Effect.runPromiseExit(
    PaymentsClient.use((client) => client.createPayout(requests.createPayout)).pipe(
      Effect.provide(PaymentsClient.layer(settingsFor(service.url))),
      Effect.withTracer(tracing.tracer),
    ),
  );
  expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({ _tag: "Refused" });
  await tracing.close();
  const spans = spansOf(collector);
  const send = spans.find(({ name }) => name === "POST /api/v1/payouts/create");
  const call = spans.find(({ name }) => name === "createPayout");
  expect(send).toMatchObject({ traceId: call?.traceId, parentSpanId: call?.spanId });
  expect(service.requests[0]?.headers["traceparent"]).toBe(
    `00-${send?.traceId}-${send?.spanId}-01`,
  );
  expect(call).toMatchObject({ status: { code: 2, message: "Refused" } });
  expect(send?.attributes).toContainEqual({
    key: "http.response.status_code",
    value: { intValue: 200 },
  });
  expect(JSON.stringify(collector.requests)).not.toContain(IBAN);
});

it("waits two seconds at most for a collector that does not answer, and fails nothing", async () => {
  await using collector = await startServer(() => () => undefined);
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
    /^Traces cannot be exported to 127\.0\.0\.1:1: .*\. Payments go on without\.$/,
  );
});
