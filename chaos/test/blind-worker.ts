/**
 * A worker with a bug put in on purpose: its reconciliation finds no payout, and is certain at once, so
 * that a payout whose answer is lost is sent again blindly. `npm run chaos` must turn red.
 */
import type { PaymentsActivities } from "@durable-payments/activities";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { taskQueueOf } from "@durable-payments/protocol";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";

type Found = Awaited<ReturnType<PaymentsActivities["findPayouts"]>>;

const nothing: Found = {
  items: [],
  matches: [],
  concurrentRuns: [],
  unreadableRows: 0,
  keyEcho: "unknown",
  requestTimeoutMs: 0,
  listLagMs: 0,
  visibilityLagMs: 0,
};

Runtime.install({ logger: new DefaultLogger("WARN") });
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const onReady = () => void process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
const worker = await Worker.create({
  connection: await NativeConnection.connect(connectionOptions),
  namespace,
  taskQueue: taskQueueOf(process.env["PAYMENTS_TASK_QUEUE"]),
  workflowBundle: { codePath: process.env["CHAOS_BUNDLE"] ?? "" },
  interceptors: {
    activity: [
      ({ info }) => ({
        inbound: {
          execute: async (input, next) =>
            info.activityType === "findPayouts" ? nothing : await next(input),
        },
      }),
    ],
  },
  // Without a journal the worker does not know what it has sent.
  plugins: [new PaymentsPlugin({ journal: "none", onReady })],
});
await worker.run();
