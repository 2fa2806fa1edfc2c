import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { like } from "./support/like.ts";
import { send, signedIn, signIn } from "./support/raw-client.ts";

const SIGN_IN = "/api/v1/auth/signin";
const REJECTED = { code: 400, message: "Token expired or invalid" };

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.stop());

const credentials = () => ({ "x-client-id": simulator.clientId, "x-api-key": simulator.apiKey });

describe("sign-in", () => {
  it("answers a token and when it expires, half an hour on", async () => {
    const before = Date.now();
    const answer = await send(simulator, "POST", SIGN_IN, { headers: credentials() });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      code: 200,
      message: "Success",
      data: { auth_token: like(/^[\w-]{32}$/), expires_at: answer.body.data.expires_at },
    });
    const { expires_at } = answer.body.data;
    expect(Number.isInteger(expires_at)).toBe(true);
    expect(expires_at).toBeGreaterThanOrEqual(before + 30 * 60_000);
    expect(expires_at).toBeLessThanOrEqual(Date.now() + 30 * 60_000);
  });

  it("refuses a wrong API key, a wrong client id, and a request without either", async () => {
    const wrong = { code: 400, message: "Invalid client id or API key" };
    for (const change of [{ "x-api-key": "wrong" }, { "x-client-id": "wrong" }]) {
      const answer = await send(simulator, "POST", SIGN_IN, {
        headers: { ...credentials(), ...change },
      });
      expect([answer.status, answer.body]).toEqual([401, wrong]);
    }
    const none = await send(simulator, "POST", SIGN_IN);
    expect([none.status, none.body]).toEqual([
      400,
      { code: 400, message: "x-client-id: is required; x-api-key: is required" },
    ]);
  });

  it("takes 50 a minute, wrong ones too, then says when to come back", async () => {
    const wrong = { headers: { ...credentials(), "x-api-key": "wrong" } };
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const options = index % 2 === 0 ? { headers: credentials() } : wrong;
        return (await send(simulator, "POST", SIGN_IN, options)).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(25);
    const next = await send(simulator, "POST", SIGN_IN, { headers: credentials() });
    expect(next.status).toBe(429);
    expect(next.body.code).toBe(400);
    const retryAfter = Number(next.headers.get("retry-after"));
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
    const { requests, sign_ins } = await simulator.state();
    expect([requests["signIn"], sign_ins.length]).toEqual([51, 50]);
  });
});

describe("a token", () => {
  it("opens ping, which answers without an envelope, again and again", async () => {
    const client = await signedIn(simulator);
    for (const _ of [1, 2]) {
      const { body, status } = await client.get("/api/v1/ping");
      expect([status, body]).toEqual([200, { message: "pong" }]);
    }
  });

  it("is refused when it is missing, unknown, of another scheme or of another client", async () => {
    const token = await signIn(simulator);
    const id = { "x-client-id": simulator.clientId };
    for (const headers of [
      {},
      id,
      { ...id, "x-auth-token": "Bearer unknown" },
      { ...id, "x-auth-token": token },
      { "x-client-id": "another", "x-auth-token": `Bearer ${token}` },
    ]) {
      const answer = await send(simulator, "GET", "/api/v1/payers", { headers });
      expect([answer.status, answer.body]).toEqual([401, REJECTED]);
    }
  });

  it("is refused once it has expired", async () => {
    const brief = await startSimulator({ tokenLifetime: 0 });
    const answer = await (await signedIn(brief)).get("/api/v1/ping");
    await brief.stop();
    expect([answer.status, answer.body]).toEqual([401, REJECTED]);
  });
});

it("names operations that the service does not have", async () => {
  const answer = await send(simulator, "GET", "/api/v1/nothing?secret=1");
  expect([answer.status, answer.body]).toEqual([
    404,
    { code: 400, message: "The service has no GET /api/v1/nothing" },
  ]);
});
