import { makePaymentsClient } from "@durable-payments/api-core";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { readFile } from "node:fs/promises";
import type { payInvoice } from "./workflows.ts";

const { PAYMENTS_API_KEY = "", PAYMENTS_BASE_URL = "", PAYMENTS_CLIENT_ID = "" } = process.env;
const [file = "", workflowId = ""] = process.argv.slice(2);
const { beneficiary: supplier, payout: payment } = JSON.parse(await readFile(file, "utf8"));

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace });
const paid = await client.workflow.execute<typeof payInvoice>("payInvoice", {
  workflowId,
  taskQueue: "payments",
  args: [{ supplier, payment }],
});
await connection.close();

const payments = makePaymentsClient({
  baseUrl: PAYMENTS_BASE_URL,
  clientId: PAYMENTS_CLIENT_ID,
  apiKey: PAYMENTS_API_KEY,
});
const { amount, payout_status } = await payments.retrievePayout({ payout_id: paid.payout_id });
await payments.close();
console.log(JSON.stringify({ ...paid, amount, payout_status }));
