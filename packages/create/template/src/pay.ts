// npm run pay -- invoice-1
// The id of the run is that of the payment: a second run of the same id is refused.
import { PaymentsPlugin } from "@durable-payments/plugin";
import { Client, Connection, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { userInfo } from "node:os";
import { exampleInvoice } from "./example-invoice.ts";
import type { payInvoice } from "./workflows.ts";

const [workflowId = "invoice-1"] = process.argv.slice(2);
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace, plugins: [new PaymentsPlugin()] });
try {
  const run = await client.workflow.start<typeof payInvoice>("payInvoice", {
    workflowId,
    taskQueue: "payments",
    args: [exampleInvoice],
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    // Whoever starts a payment may not approve it.
    memo: { startedBy: userInfo().username },
  });
  console.log(`${workflowId} has begun: npm run payments -- watch ${workflowId}`);
  console.log(await run.result());
} catch (error) {
  if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  console.error(`${workflowId} was begun before: npm run payments -- runs show ${workflowId}`);
  process.exitCode = 1;
} finally {
  await connection.close();
}
