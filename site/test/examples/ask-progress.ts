import { progressQuery } from "@durable-payments/protocol";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace });
console.log(await client.workflow.getHandle("invoice-2026-001").query(progressQuery));
await connection.close();
