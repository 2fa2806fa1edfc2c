import { spawnProcess, untilReady } from "@durable-payments/tools/processes";
import {
  type Simulator,
  startSimulator,
  startTestServer,
  type TestServer,
} from "durable-payments/testing";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, it } from "vitest";

/** The worker of a new project, as its own process: what a platform does to it when it deploys the next version. */
const worker = fileURLToPath(new URL("../../create/template/src/worker.ts", import.meta.url));
const forwarding = new URL("./support/forward-logs.ts", import.meta.url).href;

let server: TestServer;
let simulator: Simulator;
beforeAll(async () => {
  [server, simulator] = await Promise.all([startTestServer("dev"), startSimulator()]);
});
afterAll(() => Promise.all([server.dispose(), simulator.stop()]));

const start = async (args: ReadonlyArray<string> = [], env: NodeJS.ProcessEnv = {}) => {
  const started = spawnProcess(
    process.execPath,
    ["--conditions=@durable-payments/source", ...args, worker],
    {
      name: "the worker",
      env: {
        TEMPORAL_ADDRESS: server.environment.address,
        PAYMENTS_BASE_URL: simulator.url,
        PAYMENTS_CLIENT_ID: simulator.clientId,
        PAYMENTS_API_KEY: simulator.apiKey,
        PAYMENTS_LEDGER: "memory",
        ...env,
      },
    },
  );
  await untilReady(started, async () => started.stdout().includes("ready"));
  return started;
};

it.concurrent("drains on SIGTERM and ends, and logs as the settings say", async ({ expect }) => {
  const started = await start([], { PAYMENTS_LOG_LEVEL: "INFO", PAYMENTS_LOG_FORMAT: "json" });
  expect(await started.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
  const lines = started.stderr().trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ level: "INFO", message: "Worker state changed", state: "STOPPED" }),
  );
  expect(started.stderr()).not.toContain("have no effect");
});

it.concurrent("ends also where its program forwards the SDK's logs, and says once that the settings of the log have no effect", async ({
  expect,
}) => {
  const started = await start(["--import", forwarding], { PAYMENTS_LOG_LEVEL: "ERROR" });
  expect(await started.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
  expect(started.stderr().match(/have no effect/g)).toHaveLength(1);
});
