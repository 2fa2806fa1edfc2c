import { afterEach, beforeEach, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { type Client, send, signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createCardholder, createPayout } from "./support/steps.ts";

const NOON = Date.parse("2026-11-22T12:00:00Z");
const MINUTE = 60_000;

let now = NOON;
let simulator: Simulator;
let client: Client;
beforeEach(async () => {
  now = NOON;
  simulator = await startSimulator({ clock: () => now });
  client = await signedIn(simulator);
});
afterEach(() => simulator.stop());

const at = (milliseconds: number) => new Date(NOON + milliseconds).toISOString();

it("settles a payout after three seconds, at that moment, whenever it is read", async () => {
  await createPayout(client, await createBeneficiary(client));
  const payout = async () => (await simulator.state()).payouts[0]!;
  now = NOON + 2_999;
  expect((await payout()).payout_status).toBe("processing");
  now = NOON + 10 * MINUTE;
  const settled = { payout_status: "completed", complete_time: at(3_000) };
  expect(await payout()).toMatchObject(settled);
  // It never goes back.
  now = 0;
  expect(await payout()).toMatchObject(settled);
});

it("fails a payout whose reference says so, and returns its money", async () => {
  const id = await createBeneficiary(client);
  await createPayout(client, id, { payout_reference: "FAIL please" });
  now = NOON + MINUTE;
  const { balances, payouts, transactions } = await simulator.state();
  expect(payouts[0]).toMatchObject({ payout_status: "failed", update_time: at(3_000) });
  expect(balances[0]!.available_balance).toBe("100000.00");
  expect(transactions.at(-1)!.transaction_status).toBe("failed");
});

it("ends identity checks after two seconds, by the last name", async () => {
  for (const last_name of ["Hopper", "Refused", "Incomplete", "Hopper", "Hopper", "Pending"]) {
    await createCardholder(client, { last_name });
  }
  const statuses = async () =>
    (await simulator.state()).cardholders.map(({ card_holder_status }) => card_holder_status);
  // What was decided, and who was removed, is left alone.
  const [, , , decided, removed] = (await simulator.state()).cardholders;
  await simulator.setVerification(decided!.card_holder_id, "FAILED");
  await client.post(`/api/v1/cardholders/${removed!.card_holder_id}/remove`, {});
  now = NOON + 1_999;
  expect((await statuses()).slice(0, 3)).toEqual(["PENDING", "PENDING", "PENDING"]);
  now = NOON + 2_000;
  const decidedBy = ["SUCCESS", "FAILED", "INCOMPLETE", "FAILED", "PENDING"];
  expect(await statuses()).toEqual([...decidedBy, "PENDING"]);
  now = NOON + MINUTE;
  const pending = (await simulator.state()).cardholders[5];
  await simulator.setVerification(pending!.card_holder_id, "SUCCESS");
  expect(await statuses()).toEqual([...decidedBy, "SUCCESS"]);
});

it("ends tokens, and allows sign-ins again after a minute", async () => {
  const signIn = async () => {
    const headers = { "x-client-id": simulator.clientId, "x-api-key": simulator.apiKey };
    return (await send(simulator, "POST", "/api/v1/auth/signin", { headers })).status;
  };
  now = NOON + 30_000;
  for (let count = 1; count < 50; count++) expect(await signIn()).toBe(200);
  expect(await signIn()).toBe(429);
  now = NOON + MINUTE;
  // The first sign-in is a minute old now; the 49 others are not.
  expect([await signIn(), await signIn()]).toEqual([200, 429]);
  const ping = async () => (await client.get("/api/v1/ping")).status;
  now = NOON + 30 * MINUTE - 1;
  expect(await ping()).toBe(200);
  now = NOON + 30 * MINUTE;
  expect(await ping()).toBe(401);
});
