import { PaymentsPlugin } from "@durable-payments/plugin";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { userInfo } from "node:os";
import type { payInvoice } from "./workflows.ts";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace, plugins: [new PaymentsPlugin()] });

// The id is the payment's: a second start with it is refused, however often this program is run.
const run = await client.workflow.start<typeof payInvoice>("payInvoice", {
  workflowId: "invoice-17",
  workflowIdReusePolicy: "REJECT_DUPLICATE",
  // Whoever starts a payment may not approve it.
  memo: { startedBy: userInfo().username },
  taskQueue: "payments",
  args: [
    {
      supplier: {
        bank_country: "DE",
        account_currency: "EUR",
        entity_type: "company",
        email: "accounts@example.com",
        nickname: "Example supplier",
        company_name: "Example Supplies GmbH",
        payment_method: "local",
        bank_name: "Example Bank",
        bank_address: "Example Street 1, Berlin",
        account_holder: "Example Supplies GmbH",
        iban: "DE89370400440532013000",
        country_code: "DE",
        city: "Berlin",
        state: "Berlin",
        address: "Example Street 2",
        postal_code: "10115",
      },
      payment: {
        currency: "EUR",
        amount: "250.00",
        payout_reason: "Payment for goods",
        payout_reference: "Invoice 17",
        payment_date: "2026-12-01",
        is_payer: "Y",
      },
    },
  ],
});
console.log(await run.result());
await connection.close();
