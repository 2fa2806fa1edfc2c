import { request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator, TEMPERAMENTS, type Temperament } from "../src/index.ts";
import { Temperament as TemperamentSchema } from "../src/temperament/temperament.ts";
import { parseTemperament } from "../src/parse-arguments.ts";
import { type Client, send, signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createPayout } from "./support/steps.ts";
import { runListening } from "./support/process.ts";

let simulator: Simulator;
let client: Client;
beforeEach(async () => {
  simulator = await startSimulator();
  client = await signedIn(simulator);
});
afterEach(() => simulator.stop());

/** The machine may be busy. */
const LONG = { timeout: 120_000 };

const set = (temperament: Temperament) => simulator.setTemperament(temperament);
const ping = () => client.get("/api/v1/ping");

describe("content coding", () => {
  const raw = (accept: string | undefined) =>
    new Promise<{ readonly coding: string | undefined; readonly body: Buffer }>(
      (resolve, reject) => {
        request(
          `${simulator.url}/api/v1/payers`,
          { headers: { ...client.headers, ...(accept ? { "accept-encoding": accept } : {}) } },
          (response) => {
            const chunks: Array<Buffer> = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () =>
              resolve({
                coding: response.headers["content-encoding"],
                body: Buffer.concat(chunks),
              }),
            );
          },
        )
          .on("error", reject)
          .end();
      },
    );

  it.each([
    ["gzip", gunzipSync],
    ["br", brotliDecompressSync],
    ["deflate", inflateSync],
  ] as const)("%s where it is accepted, and only there", async (coding, decode) => {
    await set({ coding });
    const coded = await raw("gzip, br;q=0.9, deflate");
    const plain = await raw(undefined);
    expect([coded.coding, plain.coding]).toEqual([coding, undefined]);
    expect(decode(coded.body)).toEqual(plain.body);
  });
});

describe("outages", () => {
  it("503 from its beginning to its end, nothing carried out, control reachable", async () => {
    const id = await createBeneficiary(client);
    await set({ outage: { kind: "503", afterMs: 0, forMs: 60_000 } });
    const { status, text } = await createPayout(client, id);
    expect([status, text]).toEqual([503, "Service Unavailable"]);
    const { text: ledger } = await send(simulator, "GET", "/_simulator/state");
    expect(ledger).toContain('"payouts":[]');
    await set({ outage: { kind: "503", afterMs: 0, forMs: 100 } });
    await expect.poll(async () => (await ping()).status, LONG).toBe(200);
  });

  it("begins only when it is due", async () => {
    await set({ outage: { kind: "503", afterMs: 60_000, forMs: 60_000 } });
    expect((await ping()).status).toBe(200);
    await set({ outage: { kind: "503", afterMs: 200, forMs: 60_000 } });
    await expect.poll(async () => (await ping()).status, LONG).toBe(503);
  });

  it("reset: the connection is closed without an answer", async () => {
    await set({ outage: { kind: "reset", afterMs: 0, forMs: 60_000 } });
    await expect(ping()).rejects.toThrow("fetch failed");
    expect((await send(simulator, "GET", "/_simulator/state")).status).toBe(200);
  });

  const codeOf = (cause: unknown): unknown =>
    cause instanceof Error && "cause" in cause && cause.cause instanceof Error
      ? (cause.cause as NodeJS.ErrnoException).code
      : undefined;

  it("refused: nobody listens, and afterwards the same port answers", async () => {
    await set({ outage: { kind: "refused", afterMs: 0, forMs: 600 } });
    await expect.poll(() => ping().then(() => "answered", codeOf), LONG).toBe("ECONNREFUSED");
    await expect.poll(async () => (await ping()).status, LONG).toBe(200);
  });

  it("refused: ends with the temperament", async () => {
    await set({ outage: { kind: "refused", afterMs: 0, forMs: 60_000 } });
    await expect.poll(() => ping().then(() => "answered", codeOf), LONG).toBe("ECONNREFUSED");
    await set({});
    await expect.poll(async () => (await ping()).status, LONG).toBe(200);
  });

  it("refused: does not keep the simulator from stopping", async () => {
    await set({ outage: { kind: "refused", afterMs: 0, forMs: 60_000 } });
    await expect.poll(() => ping().then(() => "answered", codeOf), LONG).toBe("ECONNREFUSED");
    await simulator.stop();
    await expect(ping()).rejects.toThrow("fetch failed");
  });
});

it("stalls: carried out, half an answer, then nothing", async () => {
  const id = await createBeneficiary(client);
  await set({ stalls: 1 });
  const abort = new AbortController();
  const response = await fetch(`${simulator.url}/api/v1/payouts/create`, {
    method: "POST",
    signal: abort.signal,
    headers: { ...client.headers, "content-type": "application/json" },
    body: JSON.stringify({
      currency: "USD",
      amount: "1",
      payout_reason: "salary",
      payment_date: "2026-05-31",
      is_payer: "N",
      beneficiary_id: id,
    }),
  });
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body!.getReader();
  const first = await reader.read();
  const length = Number(response.headers.get("content-length"));
  expect(first.value!.length).toBe(Math.floor(length / 2));
  const more = await Promise.race([reader.read().then(() => "more"), setTimeout(300, "nothing")]);
  expect(more).toBe("nothing");
  expect((await simulator.state()).payouts).toHaveLength(1);
  abort.abort();
});

describe("tokens", () => {
  const statuses = async (there: Client, times: number, everyMs: number) => {
    const seen: Array<number> = [];
    for (let count = 0; count < times; count++) {
      await setTimeout(everyMs);
      seen.push((await there.get("/api/v1/ping")).status);
    }
    return seen;
  };

  it("end when they were idle, and live while they are used", async () => {
    await set({ idleTokenMs: 600 });
    const used = await signedIn(simulator);
    const idle = await signedIn(simulator);
    expect(await statuses(used, 6, 150)).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await idle.get("/api/v1/ping")).status).toBe(401);
  });

  it("that are short end in use", async () => {
    await set({ tokenMs: 300 });
    const there = await signedIn(simulator);
    expect((await there.get("/api/v1/ping")).status).toBe(200);
    await expect.poll(async () => (await there.get("/api/v1/ping")).status, LONG).toBe(401);
  });

  it("are all that a ping needs", async () => {
    const headers = { "x-auth-token": client.headers["x-auth-token"] };
    expect((await send(simulator, "GET", "/api/v1/ping", { headers })).status).toBe(200);
    expect((await send(simulator, "GET", "/api/v1/payers", { headers })).status).toBe(401);
  });
});

describe("setting them", () => {
  it("by control, which shows and replaces the whole", async () => {
    const control = (method: string, body?: unknown) =>
      send(simulator, method, "/_simulator/temperament", { body });
    expect((await control("PUT", { amounts: "grouped", oldestFirst: true })).status).toBe(204);
    expect((await control("GET")).body).toEqual({ amounts: "grouped", oldestFirst: true });
    await control("PUT", { totals: "text" });
    expect((await control("GET")).body).toEqual({ totals: "text" });
    const { body, status } = await control("PUT", { amounts: "roman", listLag: 1 });
    expect(status).toBe(400);
    expect(body.message).toMatch(/listLag: .*; amounts: must be/);
    expect((await control("GET")).body).toEqual({ totals: "text" });
  });

  it("by the command line", async () => {
    const { target } = await runListening(["--temperament", '{"amounts":"grouped"}']);
    const there = await signedIn(target);
    const { body } = await there.get("/api/v1/balances/retrieve/USD");
    expect(body.data.available_balance).toBe("100,000.00");
    expect(() => parseTemperament('{"listLag":1}')).toThrow(/listLag/);
    expect(() => parseTemperament("grouped")).toThrow(/a JSON object such as/);
  });

  it("by drawing them: every field, every drawn value is one that can be set", async () => {
    expect(Object.keys(TEMPERAMENTS).sort()).toEqual(Object.keys(TemperamentSchema.fields).sort());
    for (let round = 0; round < 50; round++) {
      const random = () => ((round * 0.618_033_988) % 1) * 0.999;
      const drawn = Object.fromEntries(
        Object.entries(TEMPERAMENTS).map(([name, { draw }]) => [name, draw(random)]),
      );
      expect(parseTemperament(JSON.stringify(drawn))).toEqual(drawn);
    }
  });
});
