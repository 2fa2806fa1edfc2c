// npm run pay -- invoice-1
// The workflow id identifies the payment: a second run with the same id is refused.
import { startPayment } from "durable-payments/start";
import { Client, Connection, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { exampleInvoice } from "./example-invoice.ts";
import type { payInvoice } from "./workflows.ts";

const [id = "invoice-1"] = process.argv.slice(2);
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace });
try {
  const run = await startPayment<typeof payInvoice>(client, "payInvoice", {
    id,
    // The person who starts a payment cannot approve it. Without a name, nothing is started.
    startedBy: process.env["PAYMENTS_PERSON"] ?? "",
    args: [exampleInvoice],
  });
  console.log(`${id} has started: npm run payments -- show ${id} --follow`);
  console.log(await run.result());
} catch (error) {
  if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  console.error(`${id} was started earlier: npm run payments -- show ${id}`);
  process.exitCode = 1;
} finally {
  await connection.close();
}
