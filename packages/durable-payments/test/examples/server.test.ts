import { startSimulator, startTestServer } from "durable-payments/testing";
import { PaymentsPlugin } from "durable-payments/worker";
import { Worker } from "@temporalio/worker";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { Inbox } from "durable-payments/start";
import { servePayments } from "./server.ts";

const beneficiary = {
  bank_country: "DE",
  account_currency: "USD",
  entity_type: "company",
  email: "accounts@example.com",
  nickname: "Example supplier",
  company_name: "Example Supplies GmbH",
  payment_method: "swift",
  bank_name: "Example Bank",
  bank_address: "Example Street 1, Berlin",
  account_holder: "Example Supplies GmbH",
  iban: "DE89370400440532013000",
  country_code: "DE",
  city: "Berlin",
  state: "Berlin",
  address: "Example Street 2",
  postal_code: "10115",
};
const payout = {
  currency: "USD",
  amount: "250.00",
  payout_reason: "Payment for goods",
  payout_reference: "Invoice 17",
  payment_date: "2026-12-01",
  is_payer: "Y",
};

const WITHIN = { timeout: 60_000, interval: 100 };

it("a server of one's own pays, shows, lists and approves; each error has its status", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "server-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const [temporal, simulator] = await Promise.all([
    startTestServer("dev"),
    startSimulator({ settleAfter: 0 }),
  ]);
  stack.defer(() => Promise.all([temporal.dispose(), simulator.stop()]).then(() => undefined));
  const { address, nativeConnection } = temporal.environment;
  const access = { baseUrl: simulator.url, clientId: simulator.clientId, apiKey: simulator.apiKey };
  const ledger = `sqlite:${join(folder, "ledger.db")}`;
  const worker = await Worker.create({
    connection: nativeConnection,
    taskQueue: "payments",
    workflowsPath: new URL("./workflows.ts", import.meta.url).pathname,
    plugins: [new PaymentsPlugin({ ...access, ledger, approveAbove: { USD: "100.00" } })],
  });
  const running = worker.run();
  stack.defer(async () => {
    worker.shutdown();
    await running;
  });
  const server = await servePayments({ ...access, ledger, temporal: { address } });
  await once(server.listen(0, "127.0.0.1"), "listening");
  stack.defer(async () => void (await once(server.close(), "close")));
  const { port } = server.address() as AddressInfo;
  const ask = async (user: string, path: string, body?: object | string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { "x-user": user },
      ...(body && { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as never };
  };
  const id = encodeURIComponent("payout/invoice-17");
  const wrong = await ask("ada", "/payouts", { key: "invoice-17", payout: {} });
  expect(wrong).toMatchObject({ status: 400, body: { name: "InvalidInput" } });
  const noKey = await ask("ada", "/payouts", { beneficiary, payout, key: "" });
  expect(noKey).toMatchObject({ status: 400, body: { name: "InvalidInput" } });
  expect(await ask("ada", `/payouts/${id}`)).toMatchObject({ status: 404 });
  expect(await ask("ada", "/payouts/%E0%A4%A")).toMatchObject({ status: 400 });
  for (const broken of ["{", "null", '"a text"', "5"])
    expect(await ask("ada", "/payouts", broken)).toMatchObject({ status: 400 });

  const invoice = { key: "invoice-17", beneficiary, payout };
  const started = await ask("ada", "/payouts", invoice);
  expect(started).toMatchObject({ status: 200, body: { isNew: true } });
  expect(await ask("ada", "/payouts", invoice)).toMatchObject({ body: { isNew: false } });
  const twice = await ask("ada", "/payouts", { ...invoice, key: "invoice-18" });
  expect(twice).toMatchObject({ status: 409, body: { name: "NotAllowed" } });

  const hash = await vi.waitFor(async () => {
    const { body } = await ask("grace", "/inbox");
    const [item] = (body as Inbox).items;
    expect(item).toMatchObject({ kind: "approval", workflowId: "payout/invoice-17" });
    return item?.hash;
  }, WITHIN);
  for (const unread of [{}, { hash: null }, { hash: "" }, { hash: {} }, []]) {
    const refused = await ask("grace", `/approvals/${id}`, unread);
    expect([refused.status, unread]).toEqual([400, unread]);
  }
  expect(await ask("grace", "/inbox")).toMatchObject({ body: { items: [{ kind: "approval" }] } });
  expect(await ask("ada", `/approvals/${id}`, { hash })).toMatchObject({ status: 409 });
  expect(await ask("grace", `/approvals/${id}`, { hash })).toMatchObject({ status: 200 });
  // The answer was lost: the same approval again.
  expect(await ask("grace", `/approvals/${id}`, { hash })).toMatchObject({ status: 200 });
  await vi.waitFor(async () => {
    const { body } = await ask("ada", "/payouts/payout/invoice-17");
    expect(body).toMatchObject({ status: "succeeded", payments: [{ state: "paid" }] });
  }, WITHIN);
  const listed = await ask("ada", "/payouts?payee=Example");
  expect(listed).toMatchObject({ body: { runs: [{ workflowId: "payout/invoice-17" }] } });
}, 120_000);
