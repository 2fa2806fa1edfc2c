/**
 * The worker of the chaos run: one of a user's own, with a workflow of his. CHAOS_BUNDLE names the workflow
 * bundle, which the chaos run has built.
 */
import { PaymentsPlugin } from "@durable-payments/plugin";
import { taskQueueOf } from "@durable-payments/protocol";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";

Runtime.install({ logger: new DefaultLogger("WARN") });
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const onReady = (polling: object) =>
  void process.stdout.write(`${JSON.stringify({ ready: true, ...polling })}\n`);
const worker = await Worker.create({
  connection: await NativeConnection.connect(connectionOptions),
  namespace,
  taskQueue: taskQueueOf(process.env["PAYMENTS_TASK_QUEUE"]),
  workflowBundle: { codePath: process.env["CHAOS_BUNDLE"] ?? "" },
  // The tracker's heartbeat is the witness of a restored ledger. By default the SDK holds one back for 24 s, in which a
  // short campaign makes its copy and restores it.
  maxHeartbeatThrottleInterval: "1 second",
  plugins: [new PaymentsPlugin({ onReady })],
});
await worker.run();
