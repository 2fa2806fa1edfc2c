import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { request } from "node:http";
import { type Simulator, startSimulator } from "../src/index.ts";
import { type Client, send, signedIn } from "./support/raw-client.ts";
import { cardBody, createBeneficiary, createPayout } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
let beneficiary_id: string;
beforeEach(async () => {
  simulator = await startSimulator();
  client = await signedIn(simulator);
  beneficiary_id = await createBeneficiary(client);
});
afterEach(() => simulator.stop());

const pay = () => createPayout(client, beneficiary_id);
const payouts = async () => (await simulator.state()).payouts.length;

/** A payout over a bare connection: what comes back until it closes, or until `leave` says to go. */
const payBytes = (leave: (received: string) => boolean = () => false) =>
  new Promise<{ head: number | undefined; body: string; ended: string; length: number }>(
    (resolve) => {
      let head: number | undefined;
      let length = 0;
      let body = "";
      const finish = (ended: string) => resolve({ head, body, ended, length });
      const sent = request(`${simulator.url}/api/v1/payouts/create`, {
        method: "POST",
        headers: { ...client.headers, "content-type": "application/json" },
      });
      sent.on("response", (response) => {
        head = response.statusCode;
        length = Number(response.headers["content-length"]);
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          body += chunk;
          if (leave(body)) {
            sent.destroy();
            finish("left");
          }
        });
        response.on("end", () => finish("complete"));
        response.on("error", (cause) => finish(cause.message));
      });
      sent.on("error", (cause) => finish(cause.message));
      sent.end(
        JSON.stringify({
          currency: "USD",
          amount: "12.5",
          payout_reason: "salary",
          payment_date: "2026-05-31",
          is_payer: "N",
          beneficiary_id,
        }),
      );
    },
  );

describe("on the wire", () => {
  it.each([
    ["html-502", 0],
    ["html-502-after", 1],
  ] as const)("%s: a proxy's page; payouts made: %i", async (kind, made) => {
    await simulator.addFault({ kind });
    const { headers, status, text } = await pay();
    expect([status, headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(text).toMatch(/^<html>/);
    expect(await payouts()).toBe(made);
    expect((await pay()).status).toBe(200);
  });

  it("rate-limited: 429, when to come back, nothing done", async () => {
    await simulator.addFault({ kind: "rate-limited", seconds: 7 });
    const { body, headers, status } = await pay();
    expect([status, headers.get("retry-after"), body.code]).toEqual([429, "7", 400]);
    expect(await payouts()).toBe(0);
  });

  it("refusal-in-200: code 400 under HTTP 200, nothing done", async () => {
    await simulator.addFault({ kind: "refusal-in-200" });
    const { body, status } = await pay();
    expect([status, body]).toEqual([200, { code: 400, message: "Refused on demand" }]);
    expect(await payouts()).toBe(0);
  });

  it("truncated: half of a longer body, the connection closed, the payout made", async () => {
    await simulator.addFault({ kind: "truncated" });
    const { body, ended, head, length } = await payBytes();
    expect([head, ended]).toEqual([200, "aborted"]);
    expect(body).toMatch(/^\{"code":200,"message":"Success","data":\{/);
    expect(body.length).toBe(Math.floor(length / 2));
    expect(await payouts()).toBe(1);
  });

  it("stalled: half a body, then nothing until the client leaves, the payout made", async () => {
    await simulator.addFault({ kind: "stalled" });
    const { body, ended, head, length } = await payBytes((received) => received.length > 0);
    expect([head, ended]).toEqual([200, "left"]);
    expect(body.length).toBe(Math.floor(length / 2));
    expect(await payouts()).toBe(1);
  });

  it("stalled: does not keep the simulator from stopping", async () => {
    await simulator.addFault({ kind: "stalled" });
    const paid = payBytes();
    await expect.poll(payouts).toBe(1);
    await simulator.stop();
    expect((await paid).ended).toBe("aborted");
  });

  it.each([
    ["dropped", 1],
    ["dropped-before", 0],
  ] as const)("%s: closed without a byte; payouts made: %i", async (kind, made) => {
    await simulator.addFault({ kind });
    expect(await payBytes()).toEqual({
      head: undefined,
      body: "",
      ended: "socket hang up",
      length: 0,
    });
    expect(await payouts()).toBe(made);
  });

  it("token-expired: every token is refused from then on, a new one is not", async () => {
    const other = await signedIn(simulator);
    await simulator.addFault({ kind: "token-expired", operation: "createPayout" });
    expect((await pay()).status).toBe(401);
    expect((await other.get("/api/v1/ping")).status).toBe(401);
    expect(await payouts()).toBe(0);
    client = await signedIn(simulator);
    expect((await pay()).status).toBe(200);
  });

  it("slow: the whole answer, later", async () => {
    await simulator.addFault({ kind: "slow", milliseconds: 80 });
    const before = performance.now();
    expect((await pay()).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThanOrEqual(75);
  });

  it("repeated-key-*: says how repeats are answered from then on, the newest order first", async () => {
    const card = await cardBody(simulator, client);
    const create = async () => (await client.post("/api/v1/cards/create", card)).body;
    const first = await create();
    await simulator.addFault({ kind: "repeated-key-empty" });
    expect([await create(), await create()]).toEqual(
      Array.from({ length: 2 }, () => ({ code: 200, message: "Success" })),
    );
    await simulator.addFault({ kind: "repeated-key-refusal", times: 1 });
    expect((await create()).code).toBe(400);
    expect((await create()).data).toBe(undefined);
    await simulator.addFault({ kind: "repeated-key-first" });
    expect(await create()).toEqual(first);
    expect((await simulator.faults()).map(({ fired }) => fired)).toEqual([3, 1, 1]);
  });
});

describe("orders", () => {
  const statuses = async (count: number) => {
    const all: Array<number> = [];
    for (let n = 0; n < count; n++) all.push((await client.get("/api/v1/ping")).status);
    return all;
  };

  it("strike one operation, as often as they say, and count it", async () => {
    await simulator.addFault({ kind: "html-502", operation: "ping", times: 2 });
    expect((await client.get("/api/v1/payers")).status).toBe(200);
    expect(await statuses(3)).toEqual([502, 502, 200]);
    expect(await simulator.faults()).toEqual([
      { kind: "html-502", operation: "ping", times: 2, fired: 2 },
    ]);
  });

  it("leave sign-in alone unless they name it", async () => {
    await simulator.addFault({ kind: "html-502" });
    client = await signedIn(simulator);
    await simulator.clearFaults();
    await simulator.addFault({ kind: "html-502", operation: "signIn" });
    expect(await statuses(1)).toEqual([200]);
    const answer = await send(simulator, "POST", "/api/v1/auth/signin", {
      headers: { "x-client-id": simulator.clientId, "x-api-key": simulator.apiKey },
    });
    expect(answer.status).toBe(502);
  });

  it("strike one request each, in the order in which they came", async () => {
    await simulator.addFault({ kind: "html-502" });
    await simulator.addFault({ kind: "rate-limited" });
    expect(await statuses(3)).toEqual([502, 429, 200]);
  });
});
