import { PaymentsPlugin } from "durable-payments/worker";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const plugins = [new PaymentsPlugin({ onReady: () => console.log("The worker is ready.") })];
const connection = await NativeConnection.connect({ ...connectionOptions, plugins });
try {
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: "payments",
    workflowsPath: fileURLToPath(import.meta.resolve("./workflows.ts")),
  });
  // Until SIGTERM or SIGINT. Then it finishes its work within 30 seconds.
  await worker.run();
} finally {
  // An open connection may keep the process alive.
  await connection.close();
}
