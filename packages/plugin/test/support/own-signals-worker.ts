/** A worker that handles signals by itself, and says when it has drained; WORKFLOW_BUNDLE names its bundle. */
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { PaymentsPlugin } from "../../src/index.ts";

Runtime.install({ shutdownSignals: [], logger: new DefaultLogger("ERROR") });
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await NativeConnection.connect(connectionOptions);
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue: "payments",
  workflowBundle: { codePath: process.env["WORKFLOW_BUNDLE"] ?? "" },
  plugins: [new PaymentsPlugin({ onReady: () => console.log("ready") })],
});
let isFirst = true;
process.on("SIGTERM", () => {
  console.log(isFirst ? "not yet" : "now");
  if (!isFirst) worker.shutdown();
  isFirst = false;
});
await worker.run();
await connection.close();
console.log("drained");
