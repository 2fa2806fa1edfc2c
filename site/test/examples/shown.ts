import { makePaymentsActivities } from "@durable-payments/activities";
import { decodeMessage, readDataConverter } from "@durable-payments/codec";
import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { decodingConnection } from "@durable-payments/control/connection";
import { clientHash } from "@durable-payments/protocol/account";
import { Client, type Connection } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { type NativeConnection, Worker } from "@temporalio/worker";
import { PaymentsClient } from "@durable-payments/client/effect";
import { encryptedDataConverter, openKeyring } from "durable-payments/codec";
import { startPayment } from "durable-payments/start";
import { createPaymentsTest, startTestServer, usePaymentsTest } from "durable-payments/testing";
import { defineOperation, PaymentsPlugin } from "durable-payments/worker";
import { ManagedRuntime } from "effect";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after } from "node:test";
import { expect, test } from "vitest";

// The examples of docstrings that only have to compile: tests of their packages run the same calls.

interface Reserve {
  readonly orderId: string;
}

declare const reserve: (
  orderId: string,
  options: { readonly key: string; readonly signal: AbortSignal },
) => Promise<{ readonly id: string }>;
declare const payOrder: (order: object) => Promise<string>;
declare const payInvoice: (invoice: object) => Promise<string>;

// #region example
export const reserveGoods = defineOperation<Reserve>({
  repeat: "keyed",
  send: ({ orderId }, { key, signal }) => reserve(orderId, { key, signal }),
});
// #endregion

export async function openIt(client: string) {
  // #region example
  const ledger = await openLedger(readLedgerPlace(process.env["PAYMENTS_LEDGER"], client));
  // #endregion
  await ledger.close();
}

export async function workByHand(
  connection: NativeConnection,
  { apiKey, baseUrl, clientId }: { baseUrl: string; clientId: string; apiKey: string },
) {
  // #region example
  const runtime = ManagedRuntime.make(PaymentsClient.layer({ baseUrl, clientId, apiKey }));
  const ledger = await openLedger(
    readLedgerPlace(process.env["PAYMENTS_LEDGER"], clientHash({ clientId })),
  );
  const activities = makePaymentsActivities(runtime, { ledger, taskQueue: "payments" });
  const worker = await Worker.create({ connection, taskQueue: "payments", activities });
  // #endregion
  await worker.run();
}

export async function work(connection: NativeConnection) {
  // #region example
  const worker = await Worker.create({
    connection,
    taskQueue: "payments",
    workflowsPath: fileURLToPath(import.meta.resolve("./workflows.ts")),
    plugins: [new PaymentsPlugin({ maxAmounts: { EUR: "10000.00", USD: "1000.00" } })],
  });
  await worker.run();
  // #endregion
}

export function encrypt(connection: Connection, namespace: string) {
  // #region example
  const dataConverter = encryptedDataConverter({
    namespace,
    keys: openKeyring("/etc/payments/keys"),
  });
  const client = new Client({ connection, namespace, dataConverter });
  // #endregion
  // #region example
  const converter = encryptedDataConverter({
    namespace: "payments",
    keys: openKeyring("/etc/payments/keys"),
  });
  // #endregion
  return { client, converter };
}

export function encryptBySettings(connection: Connection, namespace: string) {
  // #region example
  const dataConverter = readDataConverter({ keyring: "/etc/payments/keys" }, namespace);
  const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
  // #endregion
  return client;
}

export async function decode(client: Client, dataConverter: DataConverter) {
  // #region example
  const history = await client.workflow.getHandle("invoice-7").fetchHistory();
  await decodeMessage(history, dataConverter);
  // #endregion
}

export function decoded(connection: Connection, dataConverter: DataConverter) {
  // #region example
  const client = new Client({
    connection: decodingConnection(connection, dataConverter),
    dataConverter,
  });
  // #endregion
  return client;
}

export async function start(client: Client, order: object) {
  // #region example
  const run = await startPayment<typeof payOrder>(client, "payOrder", {
    key: "order-17",
    startedBy: "ada",
    args: [order],
  });
  // #endregion
  return run;
}

export async function testIt(invoice: object) {
  // #region example
  const payments = await createPaymentsTest({
    workflowsPath: new URL("./workflows.ts", import.meta.url).href,
  });
  await payments.fault("dropped", { operation: "createPayout" });
  await payments.run(payInvoice, [invoice]);
  assert.equal((await payments.service()).payouts.length, 1);
  await payments.dispose();
  // #endregion
  // #region example
  const server = await startTestServer();
  after(() => server.dispose());
  // #endregion
}

export async function testInVitest(invoice: object) {
  // #region example
  const payments = await usePaymentsTest({
    workflowsPath: new URL("./workflows.ts", import.meta.url).href,
  });

  test("pays", async () => {
    expect(await payments.run(payInvoice, [invoice])).toBe("completed");
  });
  // #endregion
}
