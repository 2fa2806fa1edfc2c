import { PaymentsPlugin } from "@durable-payments/plugin";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, Worker } from "@temporalio/worker";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const apiKeyOf = (name: string) =>
  readFileSync(`${process.env["KEYS"] ?? "/run/secrets"}/${name}.key`, "utf8").trim();
const eu = { clientId: "client-eu", apiKey: apiKeyOf("eu"), maxAmounts: { EUR: "10000.00" } };
const us = { clientId: "client-us", apiKey: apiKeyOf("us"), activitiesPerSecond: 20 };
const worker = await Worker.create({
  connection: await NativeConnection.connect(connectionOptions),
  namespace,
  taskQueue: "payments",
  workflowsPath: fileURLToPath(import.meta.resolve("./workflows.ts")),
  plugins: [new PaymentsPlugin({ accounts: { eu, us } })],
});
await worker.run();
