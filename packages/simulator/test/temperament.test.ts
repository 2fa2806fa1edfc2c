import { request } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Simulator, startSimulator, type Temperament } from "../src/index.ts";
import { type Client, send, signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createPayout } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
let beneficiary_id: string;
beforeEach(async () => {
  simulator = await startSimulator({ settleAfter: Infinity });
  client = await signedIn(simulator);
  beneficiary_id = await createBeneficiary(client);
});
afterEach(() => simulator.stop());

/** The machine may be busy. */
const LONG = { timeout: 60_000 };

const set = (temperament: Temperament) => simulator.setTemperament(temperament);
const pay = (changes = {}) => createPayout(client, beneficiary_id, changes);
const ping = async () => (await client.get("/api/v1/ping")).status;
/** The data as it came: nothing is said about its types. */
const dataOf = (answer: { readonly body: unknown }) =>
  (answer.body as { readonly data: Record<string, unknown> }).data;
const list = async (query = "") =>
  dataOf(await client.get(`/api/v1/payouts?page_num=1&page_size=50${query}`));
const listed = async (query = "") =>
  (await list(query))["item_list"] as ReadonlyArray<Record<string, unknown>>;

it("listLagMs: lists show a new row late, reads show it at once", async () => {
  let now = Date.parse("2026-11-22T12:00:00Z");
  const other = await startSimulator({ clock: () => now, temperament: { listLagMs: 3_000 } });
  const there = await signedIn(other);
  const made = (await createPayout(there, await createBeneficiary(there))).body.data;
  const count = async () =>
    (await there.get("/api/v1/payouts?page_num=1&page_size=50")).body.data.total_item;
  now += 2_999;
  expect(await count()).toBe(0);
  expect((await there.get(`/api/v1/payouts/${made.id}/retrieve`)).status).toBe(200);
  now += 1;
  expect(await count()).toBe(1);
  await other.stop();
});

it.each([600_000, -600_000])("clockOffsetMs %i: times, filters, expiry, Date", async (off) => {
  await set({ clockOffsetMs: off });
  const isOff = (time: number) => expect(Math.abs(time - Date.now() - off)).toBeLessThan(5_000);
  const answer = await pay();
  isOff(Date.parse(answer.body.data.create_time));
  isOff(Date.parse(answer.headers.get("date")!));
  isOff(Date.parse((await simulator.state()).payouts[0]!.create_time));
  const around = (time: number) =>
    listed(`&date_type=create_time&start_time=${time - 9_000}&end_time=${time + 9_000}`);
  expect(await around(Date.now() + off)).toHaveLength(1);
  expect(await around(Date.now())).toHaveLength(0);
  const headers = { "x-client-id": simulator.clientId, "x-api-key": simulator.apiKey };
  const token = await send(simulator, "POST", "/api/v1/auth/signin", { headers });
  isOff(token.body.data.expires_at - 30 * 60_000);
});

it.each([
  ["plain", "3500.00", "1234567.50", "100000000.00"],
  ["grouped", "3,500.00", "1,234,567.50", "100,000,000.00"],
  ["short", "3500", "1234567.5", "100000000"],
  ["four-digits", "3500.0000", "1234567.5000", "100000000.0000"],
  ["number", 3500, 1234567.5, 100000000],
] as const)("amounts, %s", async (amounts, small, large, balance) => {
  await simulator.fund("USD", "101138067.50");
  await pay({ amount: "3500" });
  await pay({ amount: "1234567.5" });
  await set({ amounts });
  expect((await listed()).map(({ amount }) => amount)).toEqual([large, small]);
  const shown = dataOf(await client.get("/api/v1/balances/retrieve/USD"));
  expect(shown["available_balance"]).toBe(balance);
  const { payouts } = await simulator.state();
  expect(payouts.map(({ amount }) => amount)).toEqual(["3500.00", "1234567.50"]);
});

it("payoutKeys: echoed, dropped, or replaced by one that stays the payout's", async () => {
  const keys = async (payoutKeys: NonNullable<Temperament["payoutKeys"]>) => {
    await set({ payoutKeys });
    const created = dataOf(await pay({ unique_request_id: "ours" }));
    const read = dataOf(await client.get(`/api/v1/payouts/${String(created["id"])}/retrieve`));
    return [created, (await listed())[0]!, read].map((shown) => shown["unique_request_id"]);
  };
  expect(await keys("echoed")).toEqual(["ours", "ours", "ours"]);
  expect(await keys("dropped")).toEqual(["", "", ""]);
  const replaced = await keys("replaced");
  expect(new Set(replaced).size).toBe(1);
  expect(replaced[0]).toMatch(/^own-/);
  expect(await keys("replaced")).not.toEqual(replaced);
});

it("a completed payout that is reversed keeps its completion time, its money returned once", async () => {
  let now = Date.parse("2026-11-22T12:00:00Z");
  const other = await startSimulator({ clock: () => now });
  onTestFinished(other.stop);
  const there = await signedIn(other);
  await createPayout(there, await createBeneficiary(there));
  const payout = async () => (await other.state()).payouts[0]!;
  now += 3_000;
  const { complete_time, payout_id } = await payout();
  now += 60_000;
  for (const status of ["reversed", "reversed"]) await other.setPayoutStatus(payout_id, status);
  expect(await payout()).toMatchObject({ payout_status: "reversed", complete_time });
  const { balances } = await other.state();
  expect(balances.find(({ currency }) => currency === "USD")?.available_balance).toBe("100000.00");
});

it.each([
  ["gzip", gunzipSync],
  ["br", brotliDecompressSync],
  ["deflate", inflateSync],
] as const)("coding %s where it is accepted, and only there", async (coding, decode) => {
  await set({ coding });
  const raw = (accepted: Record<string, string>) =>
    new Promise<{ readonly coding: string | undefined; readonly body: Buffer }>(
      (resolve, reject) => {
        const headers = { ...client.headers, ...accepted };
        const asking = request(`${simulator.url}/api/v1/payers`, { headers }, (response) => {
          const chunks: Array<Buffer> = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({ coding: response.headers["content-encoding"], body: Buffer.concat(chunks) }),
          );
        });
        asking.on("error", reject).end();
      },
    );
  const coded = await raw({ "accept-encoding": "gzip, br;q=0.9, deflate" });
  const plain = await raw({});
  expect([coded.coding, plain.coding]).toEqual([coding, undefined]);
  expect(decode(coded.body)).toEqual(plain.body);
});

it("requestsPerSecond: more in one second are refused until the date of Retry-After, and counted", async () => {
  await set({ requestsPerSecond: 2 });
  const at = Date.now();
  const answers = await Promise.all(Array.from({ length: 40 }, () => client.get("/api/v1/ping")));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const { headers } of refused)
    expect(Date.parse(String(headers.get("retry-after")))).toBeGreaterThan(at);
  expect((await simulator.state()).rate_limited).toBe(refused.length);
  await expect.poll(ping, LONG).toBe(200);
});

describe("outage", () => {
  it("503 from its beginning to its end, nothing carried out, control reachable", async () => {
    await set({ outage: { kind: "503", afterMs: 200, forMs: 60_000 } });
    await expect.poll(ping, LONG).toBe(503);
    expect((await pay()).text).toBe("Service Unavailable");
    expect((await simulator.state()).payouts).toEqual([]);
    expect((await send(simulator, "GET", "/_simulator/state")).status).toBe(200);
    await set({ outage: { kind: "503", afterMs: 0, forMs: 100 } });
    await expect.poll(ping, LONG).toBe(200);
  });

  it("reset: the connection is closed without an answer", async () => {
    await set({ outage: { kind: "reset", afterMs: 0, forMs: 60_000 } });
    await expect(ping()).rejects.toThrow("fetch failed");
    expect((await send(simulator, "GET", "/_simulator/state")).status).toBe(200);
  });
});

it("is read and replaced by the control endpoint, which refuses unknown fields", async () => {
  const control = (method: string, body?: unknown) =>
    send(simulator, method, "/_simulator/temperament", { body });
  expect((await control("PUT", { listLagMs: 1 })).status).toBe(204);
  expect((await control("GET")).body).toEqual({ listLagMs: 1 });
  const refused = await control("PUT", { listLagMs: -2, nonsense: 1 });
  expect(refused.status).toBe(400);
  expect(refused.body.message).toMatch(/listLagMs: .*; nonsense: |nonsense: .*; listLagMs: /);
});

it("the option rewrite returns another body for an answer", async () => {
  const other = await startSimulator({
    rewrite: (operation, body) => (operation === "listPayers" ? { code: 200, data: null } : body),
  });
  const there = await signedIn(other);
  expect((await there.get("/api/v1/payers")).body).toEqual({ code: 200, data: null });
  expect((await there.get("/api/v1/balances/retrieve/USD")).body.code).toBe(200);
  await other.stop();
});
