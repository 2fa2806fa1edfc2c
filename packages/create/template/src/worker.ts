import { PaymentsPlugin } from "durable-payments/worker";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const worker = await Worker.create({
  connection: await NativeConnection.connect(connectionOptions),
  namespace,
  taskQueue: "payments",
  workflowsPath: fileURLToPath(import.meta.resolve("./workflows.ts")),
  plugins: [new PaymentsPlugin({ onReady: () => console.log("The worker is ready.") })],
});
await worker.run();
