import { startSimulator } from "@durable-payments/simulator";
import { rmSync, writeFileSync } from "node:fs";
import {
  connect,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";

const WITHIN = { timeout: 60_000, interval: 300 };
const UNAUTHENTICATED = "16";

const { folder, startPayout, startWorker, temporal } = await makeRig();

/** A gateway before Temporal that lets requests pass which carry one of its keys. */
const startGateway = async (target: string, keys: ReadonlySet<string>) => {
  const upstream = connect(`http://${target}`);
  const seen: Array<string> = [];
  const refused: Array<string> = [];
  const server = createServer();
  for (const side of [upstream, server]) side.on("error", () => undefined);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
  });
  server.on("sessionError", () => undefined);
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    const key = String(headers["authorization"]).replace("Bearer ", "");
    seen.push(key);
    stream.on("error", () => undefined);
    if (!keys.has(key)) {
      refused.push(key);
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", "grpc-status": UNAUTHENTICATED },
        { endStream: true },
      );
      return;
    }
    const passed = upstream.request(headers);
    passed.on("error", () => stream.destroy());
    passed.on("response", (answer, flags) => {
      const isWhole = (flags & 1) === 1;
      stream.respond(answer, { waitForTrailers: !isWhole, endStream: isWhole });
    });
    let trailers: IncomingHttpHeaders = {};
    passed.on("trailers", (found: IncomingHttpHeaders) => {
      trailers = found;
    });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.on("close", () => passed.close());
    stream.pipe(passed).pipe(stream);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    seen,
    refused,
    /** Ends what waits for an answer: it is asked for again. */
    endConnections: () => {
      for (const session of sessions) session.destroy();
    },
    stop: () => {
      upstream.destroy();
      server.close();
    },
  };
};

it(
  "a worker keeps working when the keys of the service and of Temporal are replaced, in the same process",
  { timeout: 240_000 },
  async () => {
    const stateFile = join(folder.path, "ledger");
    const serving = (apiKey: string, port = 0) =>
      startSimulator({ apiKey, port, settleAfter: 0, stateFile });
    let service = await serving("first-key");
    const { port } = new URL(service.url);
    const keys = new Set(["first-temporal-key"]);
    const gateway = await startGateway(temporal.address, keys);
    afterAll(async () => {
      gateway.stop();
      await service.stop();
    });
    const serviceKey = join(folder.path, "service.key");
    const temporalKey = join(folder.path, "temporal.key");
    writeFileSync(serviceKey, "first-key\n");
    writeFileSync(temporalKey, "first-temporal-key\n");
    const worker = await startWorker({
      TEMPORAL_ADDRESS: gateway.address,
      TEMPORAL_TLS: "false",
      TEMPORAL_API_KEY_FILE: temporalKey,
      PAYMENTS_API_KEY: "",
      PAYMENTS_API_KEY_FILE: serviceKey,
      PAYMENTS_BASE_URL: service.url,
    });
    const pay = async (workflowId: string) => {
      const handle = await startPayout(workflowId);
      return handle.result() as Promise<unknown>;
    };
    await pay("before");

    // Both keys are good for a while, then the old ones are withdrawn.
    keys.add("second-temporal-key");
    writeFileSync(temporalKey, "second-temporal-key\n");
    await vi.waitFor(() => expect(gateway.seen).toContain("second-temporal-key"), WITHIN);
    keys.delete("first-temporal-key");
    await service.stop();
    service = await serving("second-key", Number(port));
    writeFileSync(serviceKey, "second-key\n");
    // What the worker signed in with before.
    await service.addFault({ kind: "token-expired" });
    await pay("after");

    // Of Temporal the old one ends before there is another one: the worker asks until it is taken again.
    keys.clear();
    gateway.endConnections();
    await vi.waitFor(() => expect(gateway.refused.length).toBeGreaterThan(50), WITHIN);
    keys.add("third-temporal-key");
    writeFileSync(temporalKey, "third-temporal-key\n");
    await pay("after an expired key");

    // A key that cannot be read leaves the one before in use.
    rmSync(temporalKey);
    rmSync(serviceKey);
    const written = () => worker.stdout() + worker.stderr();
    let paid = 3;
    await vi.waitFor(async () => {
      await pay(`without files ${(paid += 1)}`);
      for (const name of ["PAYMENTS_API_KEY_FILE (apiKeyFile)", "TEMPORAL_API_KEY_FILE"]) {
        expect(written()).toContain(`${name} must be the path of a file`);
      }
    }, WITHIN);
    expect(written()).not.toMatch(/(first|second|third)(-temporal)?-key/);
    expect(written()).not.toContain(folder.path);
    expect((await service.state()).payouts).toHaveLength(paid);
  },
);
