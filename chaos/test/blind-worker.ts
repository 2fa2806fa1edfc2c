/**
 * A worker with a bug put in on purpose: its reconciliation finds no payout, and is certain at once, so
 * that a payout whose answer is lost is sent again blindly. `npm run chaos` must turn red.
 */
import { makePaymentsActivities, type PaymentsActivities } from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/api-core";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Runtime } from "@temporalio/worker";
import { ManagedRuntime } from "effect";
import { WorkerLogger } from "@durable-payments/worker/logger";
import { createWorkers, runWorkers } from "@durable-payments/worker/run-queues";

Runtime.install({ logger: new WorkerLogger("WARN") });
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const activities: PaymentsActivities = {
  ...makePaymentsActivities(ManagedRuntime.make(PaymentsClient.layerFromEnvironment)),
  findPayouts: async () => ({
    items: [],
    matches: [],
    concurrentRuns: [],
    unreadableRows: 0,
    keyEcho: "unknown",
    requestTimeoutMs: 0,
    listLagMs: 0,
    visibilityLagMs: 0,
  }),
};
const workers = await createWorkers({
  taskQueue: process.env["PAYMENTS_TASK_QUEUE"] ?? "payments",
  rates: {},
  shared: {
    connection: await NativeConnection.connect(connectionOptions),
    namespace,
    activities,
  },
  workflows: { workflowBundle: { codePath: process.env["CHAOS_BUNDLE"] ?? "" } },
});
const running = runWorkers(workers);
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
await running;
