// npm run pay -- invoice-1
// The key identifies the payment: a second run with the same key is refused.
import { startPayment } from "durable-payments/start";
import { Client, Connection, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { exampleInvoice } from "./example-invoice.ts";
import type { payInvoice } from "./workflows.ts";

const [key = "invoice-1"] = process.argv.slice(2);
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace });
try {
  const run = await startPayment<typeof payInvoice>(client, "payInvoice", {
    key,
    // Without a name, nothing is started. If payments need approval, use payments.start of openPayments: it records the name.
    startedBy: process.env["PAYMENTS_PERSON"] ?? "",
    args: [exampleInvoice],
  });
  console.log(
    `${run.workflowId} has started: npx durable-payments show ${run.workflowId} --follow`,
  );
  console.log(await run.result());
} catch (error) {
  if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  console.error(
    `${error.workflowId} was started earlier: npx durable-payments show ${error.workflowId}`,
  );
  process.exitCode = 1;
} finally {
  await connection.close();
}
