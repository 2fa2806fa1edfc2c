import { Worker } from "@temporalio/worker";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { exampleFile, payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";
import { runStarter } from "./support/run-starter.ts";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly startTimeUnixNano: string;
}

interface Exported {
  readonly resourceSpans: ReadonlyArray<{
    readonly scopeSpans: ReadonlyArray<{
      readonly spans: ReadonlyArray<
        Omit<Span, "attributes"> & {
          readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: object }>;
        }
      >;
    }>;
  }>;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const listen = async (server: ReturnType<typeof createServer>): Promise<string> => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

/** A collector of OTLP. */
const startCollector = async () => {
  const collector = { bodies: new Array<string>(), hangs: false, url: "" };
  collector.url = await listen(
    createServer((request, response) => {
      void bodyOf(request).then((body) => {
        collector.bodies.push(body);
        if (!collector.hangs) response.end("{}");
      });
    }),
  );
  const spans = (): ReadonlyArray<Span> =>
    collector.bodies.flatMap((body) =>
      (JSON.parse(body) as Exported).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans: ended }) =>
          ended.map((span) => ({
            ...span,
            attributes: Object.fromEntries(
              span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
            ),
          })),
        ),
      ),
    );
  return Object.assign(collector, { spans });
};

/** The service, behind what notes the trace of each request. */
const startNoting = async (service: string) => {
  const noted = new Map<string, Array<string>>();
  const url = await listen(
    createServer((request, response) => {
      void (async () => {
        const { method = "", url: path = "" } = request;
        const body = await bodyOf(request);
        noted.set(path, [...(noted.get(path) ?? []), String(request.headers["traceparent"])]);
        const headers = Object.entries(request.headers).flatMap(([name, value]) =>
          ["connection", "host", "content-length", "accept-encoding"].includes(name)
            ? []
            : [[name, String(value)] as [string, string]],
        );
        const answer = await fetch(`${service}${path}`, {
          method,
          headers,
          ...(body !== "" && { body }),
        });
        response.writeHead(answer.status, { "content-type": "application/json" });
        response.end(await answer.text());
      })().catch(() => response.destroy());
    }),
  );
  return { noted, url };
};

const { simulator, startWorker, temporal, variables } = await makeRig({ settleAfter: 0 });

it(
  "one trace from the start of a run to each request, of which no value is exported",
  { timeout: 240_000 },
  async () => {
    const [collector, service] = await Promise.all([startCollector(), startNoting(simulator.url)]);
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "200",
      PAYMENTS_BASE_URL: service.url,
    };
    const worker = await startWorker(settings);
    await simulator.addFault({ kind: "dropped-before", operation: "createBeneficiary" });
    await runStarter(
      ["payout", "--file", exampleFile("payout"), "--id", "traced", "--wait"],
      variables(settings),
    );
    const ofRun = () =>
      collector.spans().filter(({ attributes }) => attributes["temporal.workflow.id"] === "traced");
    const attempts = (activity: string) =>
      ofRun().filter(({ name }) => name === `RunActivity:${activity}`);
    await vi.waitFor(() => expect(attempts("createPayout")).toHaveLength(1), { timeout: 20_000 });

    const [start] = ofRun().filter(({ name }) => name === "StartWorkflow:payout");
    expect(start?.parentSpanId).toBeUndefined();
    const { runId } = await temporal.client.workflow.getHandle("traced").describe();
    for (const span of ofRun().filter(({ spanId }) => spanId !== start?.spanId)) {
      expect(span).toMatchObject({
        traceId: start?.traceId,
        attributes: { "temporal.workflow.type": "payout", "temporal.run.id": runId },
      });
    }
    // The first answer was lost, and the beneficiary created again.
    const [lost, created] = attempts("createBeneficiary");
    expect(attempts("createBeneficiary")).toHaveLength(2);
    expect(lost?.attributes["error.type"]).toBe("OutcomeUnknown");
    expect(created?.attributes).not.toHaveProperty("error.type");

    const [attempt] = attempts("createPayout");
    const within = (parent: Span | undefined, name: string) =>
      collector.spans().find((each) => each.parentSpanId === parent?.spanId && each.name === name);
    const call = within(attempt, "createPayout");
    const send = within(call, "POST /api/v1/payouts/create");
    expect(attempt?.parentSpanId).toBe(start?.spanId);
    expect(Number(send?.attributes["http.response.status_code"])).toBe(200);
    expect(service.noted.get("/api/v1/payouts/create")).toEqual([
      `00-${start?.traceId}-${send?.spanId}-01`,
    ]);

    // What it hands on stands in its history, which replays.
    const handle = temporal.client.workflow.getHandle("traced", runId);
    const history = await handle.fetchHistory();
    expect(JSON.stringify(history)).toContain("_tracer-data");
    const folder = process.env["PAYMENTS_WORKFLOW_BUNDLE"] ?? "";
    const codePath = join(folder, "workflow-bundle.js");
    await Worker.runReplayHistory({ workflowBundle: { codePath } }, history, "traced");

    // A run that was started by something else, without a trace, has its own.
    const foreign = await temporal.client.workflow.start("payout", {
      workflowId: "foreign",
      taskQueue: "payments",
      args: [payoutInput],
    });
    await foreign.result();
    const ofForeign = () =>
      collector
        .spans()
        .filter(({ attributes }) => attributes["temporal.workflow.id"] === "foreign");
    await vi.waitFor(
      () => expect(ofForeign().map(({ name }) => name)).toContain("RunActivity:createPayout"),
      { timeout: 20_000 },
    );
    expect(new Set(ofForeign().map(({ traceId }) => traceId))).toEqual(
      new Set([foreign.firstExecutionRunId.replaceAll("-", "")]),
    );
    const { events } = await foreign.fetchHistory();
    expect(JSON.stringify(events)).not.toContain("_tracer-data");

    // Shorter values, such as a country, may be part of any word.
    const texts = JSON.stringify(payoutInput).match(/(?<=:")[^"]{6,}/g) ?? [];
    expect(texts).toContain("DE89370400440532013000");
    for (const text of [...texts, simulator.apiKey]) {
      expect(collector.bodies.join("\n")).not.toContain(text);
    }

    // A collector that no longer answers holds neither a payment nor the end of the worker.
    collector.hangs = true;
    const heard = collector.bodies.length;
    await runStarter(
      ["payout", "--file", exampleFile("payout"), "--id", "unheard", "--wait"],
      variables({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" }),
    );
    await vi.waitFor(() => expect(collector.bodies.length).toBeGreaterThan(heard));
    const began = performance.now();
    expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
    expect(performance.now() - began).toBeLessThan(15_000);
  },
);
