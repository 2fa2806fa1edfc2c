import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Notification } from "@durable-payments/protocol";
import { startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeTestFolder,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { afterEach, expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";

// Each test is a server and a process: a busy machine takes its time.

const PATIENCE = { timeout: 120_000, interval: 200 };

const cleanUp: Array<() => Promise<unknown> | void> = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).toReversed()) await end();
});

/** An endpoint that answers with the status that is set. */
const startEndpoint = async () => {
  const taken: Array<Notification> = [];
  const endpoint = { status: 500, refused: 0, taken, url: "" };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      // What it is, the test examines.
      if (endpoint.status === 200) taken.push(JSON.parse(body) as Notification);
      else endpoint.refused += 1;
      response.writeHead(endpoint.status).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens at a port.
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return endpoint;
};

it("loses no notification when the Temporal server is restarted, and its worker gone meanwhile", async () => {
  const folder = makeTestFolder();
  cleanUp.push(() => folder.remove());
  const endpoint = await startEndpoint();
  const simulator = await startSimulator({ balances: { EUR: "1.00", USD: "1.00" } });
  cleanUp.push(() => simulator.stop());
  const dbFilename = join(folder.path, "temporal.db");
  let temporal = await createLocalEnvironment({ server: { dbFilename } });
  cleanUp.push(() => temporal.teardown());
  const port = Number(temporal.address.split(":").at(-1));
  const startWorker = async () => {
    const worker = await startApp("worker", ["--json"], {
      ...folder.variables,
      ...workerVariables(temporal, simulator),
      PAYMENTS_JOURNAL: `sqlite:${join(folder.path, "journal.sqlite")}`,
      PAYMENTS_NOTIFY_URL: endpoint.url,
      PAYMENTS_NOTIFY_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
      PAYMENTS_NOTIFY_INTERVAL_SECONDS: "1",
    });
    cleanUp.push(() => worker.kill("SIGKILL"));
    return worker;
  };
  const first = await startWorker();
  const start = (workflowId: string) =>
    temporal.client.workflow.start("payout", {
      workflowId,
      taskQueue: "payments",
      args: [payoutInput],
    });
  const one = await start("one");
  await one.result().catch(() => undefined);
  await vi.waitFor(() => expect(endpoint.refused).toBeGreaterThan(0), PATIENCE);
  const two = await start("two");
  await two.result().catch(() => undefined);

  await first.kill("SIGKILL");
  await temporal.teardown();
  temporal = await createLocalEnvironment({ server: { dbFilename, port } });
  endpoint.status = 200;
  await startWorker();
  await vi.waitFor(
    () =>
      expect(
        endpoint.taken.map(({ data, type }) => `${type} ${data.workflowId} ${data.state}`),
      ).toEqual(["run.failed one failed", "run.failed two failed"]),
    PATIENCE,
  );
});
