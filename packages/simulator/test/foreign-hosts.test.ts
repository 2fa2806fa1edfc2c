import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createPayout } from "./support/steps.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ settleAfter: Infinity });
});
afterAll(() => simulator.stop());

/** Asks under a name that a page in a browser has lead to this machine; `fetch` lets nobody choose it. */
const ask = (
  path: string,
  host: string,
): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const asking = request(new URL(path, simulator.url), { headers: { host } }, (response) => {
      void text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, body }),
        reject,
      );
    });
    asking.on("error", reject).end();
  });

it.each(["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example"])(
  "answers nothing under the host %j",
  async (host) => {
    for (const path of ["/_simulator/state", "/api/v1/ping", "/api/v1/nothing"]) {
      const { body, status } = await ask(path, host);
      expect({ path, status }).toEqual({ path, status: 403 });
      expect(body).not.toContain("balances");
    }
  },
);

it.each(["localhost", "LOCALHOST:4010", "127.0.0.1:1", "127.9.9.9", "[::1]:7"])(
  "answers under the host %j",
  async (host) => {
    expect((await ask("/_simulator/state", host)).status).toBe(200);
  },
);

it("refuses amounts of more digits than any amount has, at once", async () => {
  const client = await signedIn(simulator);
  const beneficiary_id = await createBeneficiary(client);
  for (const amount of ["9".repeat(1_000_000), `0.${"0".repeat(1_000_000)}1`, "1e999999999"]) {
    const { body, status } = await createPayout(client, beneficiary_id, { amount });
    expect(status).toBe(400);
    expect(body.message).toContain("amount");
  }
});
