import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ServiceBooks, type Simulator, startSimulator } from "../src/index.ts";
import { type Client, send, signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createPayout } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
beforeEach(async () => {
  simulator = await startSimulator({ settleAfter: Infinity, verifyAfter: Infinity });
  client = await signedIn(simulator);
});
afterEach(() => simulator.stop());

const control = (method: string, path: string, body?: unknown) =>
  send(simulator, method, `/_simulator/${path}`, { body });

it("shows the whole ledger and counts requests, without sign-in, without tokens", async () => {
  const id = await createBeneficiary(client);
  await createPayout(client, id);
  const { status, text } = await control("GET", "state");
  expect(status).toBe(200);
  const ledger = JSON.parse(text) as ServiceBooks;
  expect(Object.keys(ledger)).toEqual([
    "balances",
    "beneficiaries",
    "payouts",
    "payers",
    "transactions",
    "cardholders",
    "cards",
    "sign_ins",
    "requests",
    "rate_limited",
  ]);
  expect(ledger.balances[0]!.available_balance).toBe("99987.50");
  expect(ledger.requests).toEqual({ signIn: 1, createBeneficiary: 1, createPayout: 1 });
  expect(ledger).toEqual(await simulator.state());
  const token = client.headers["x-auth-token"].split(" ")[1]!;
  expect(text).not.toContain(token);
});

it.each([
  [{ kind: "nonsense" }, /^kind: must be one of "html-502"/],
  [{ kind: "slow", operation: "nonsense" }, /^operation: /],
  [{ kind: "slow", times: 0 }, /^times: /],
  [{ kind: "slow", probability: 2 }, /^probability: /],
])("refuses the fault %j", async (fault, message) => {
  const { body, status } = await control("POST", "faults", fault);
  expect(status).toBe(400);
  expect(body.message).toMatch(message);
});

it("pays into a balance", async () => {
  await control("POST", "balances/USD/fund", { amount: "0.01" });
  const usd = await client.get("/api/v1/balances/retrieve/USD");
  expect(usd.body.data.available_balance).toBe("100000.01");
  const [deposit] = (await simulator.state()).transactions.slice(-1);
  expect(deposit).toMatchObject({ transaction_type: "deposit", amount: "0.01" });
  for (const [currency, amount, message] of [
    ["GBP", "1", "There is no GBP balance"],
    ["USD", "-1", /^amount: must be a decimal amount above zero/],
    ["USD", "0.001", "amount: USD has at most 2 digits after the point"],
  ] as const) {
    const answer = await control("POST", `balances/${currency}/fund`, { amount });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(message);
  }
});

const address = Object.values(networkInterfaces())
  .flat()
  .find((found) => found?.family === "IPv4" && !found.internal)?.address;

it.skipIf(address === undefined)("answers its own machine only", async () => {
  const open = await startSimulator({ host: "0.0.0.0" });
  const { port } = new URL(open.url);
  const from = (host: string) =>
    send({ url: `http://${host}:${port}` }, "GET", "/_simulator/state");
  const [near, far] = [await from("127.0.0.1"), await from(address!)];
  await open.stop();
  expect(near.status).toBe(200);
  expect([far.status, far.body.message]).toEqual([
    400,
    "The simulator can be controlled only from its own machine",
  ]);
});
