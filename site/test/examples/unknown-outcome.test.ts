import { createClient } from "@durable-payments/client";
import { startSimulator } from "durable-payments/testing";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from "vitest";

/** The examples that send a payout, when answers are lost: what they say was paid. */
let simulator: Awaited<ReturnType<typeof startSimulator>>;
let printed: MockInstance<typeof console.log>;
let runs = 0;

/** Runs an example from its beginning: a module is not run again. */
const run = async (name: string) => {
  runs += 1;
  await import(`${join(import.meta.dirname, `${name}.ts`)}?run=${runs}`);
  return printed.mock.lastCall?.join(" ");
};

beforeEach(async () => {
  simulator = await startSimulator();
  vi.stubEnv("PAYMENTS_BASE_URL", simulator.url);
  vi.stubEnv("PAYMENTS_CLIENT_ID", simulator.clientId);
  vi.stubEnv("PAYMENTS_API_KEY", simulator.apiKey);
  printed = vi.spyOn(console, "log").mockReturnValue();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  printed.mockRestore();
  await simulator.stop();
});

it.each([
  ["createBeneficiary", "dropped", "Nothing was paid: you may run this again."],
  ["createPayout", "refusal-in-200", "Nothing was paid: you may run this again."],
  ["createPayout", "dropped-before", "Invoice 2026-001 may be paid. Do not send it again."],
] as const)(
  "says what was paid if %s is answered by the fault %s",
  async (operation, kind, line) => {
    await simulator.addFault({ kind, operation });
    expect(await run("pay-once")).toBe(line);
  },
);

it.each([
  ["the payout was made", "dropped", "echoed", /^Paid: payout \S+$/],
  ["half of the response is lost", "truncated", "echoed", /^Paid: payout \S+$/],
  ["the service shows no keys", "dropped", "dropped", /^A person compares: \S+$/],
  ["nothing was made", "dropped-before", "echoed", /^Not listed: a person asks/],
] as const)("finds out about a payout if %s", async (_, kind, payoutKeys, line) => {
  const { apiKey, clientId, url } = simulator;
  const client = createClient({ baseUrl: url, clientId, apiKey });
  const { beneficiary_id } = await client.createBeneficiary({
    bank_country: "US",
    account_currency: "USD",
    entity_type: "company",
    email: "books@example.com",
    nickname: "Engines",
    company_name: "Engines Inc",
    payment_method: "local",
    bank_name: "First Bank",
    bank_address: "1 Main Street",
    account_holder: "Engines Inc",
    account_number: "000123456789",
    clearing_system: "ACH",
    country_code: "US",
    city: "Austin",
    state: "TX",
    address: "2 Main Street",
    postal_code: "73301",
  });
  await client.close();
  vi.stubEnv("BENEFICIARY_ID", beneficiary_id);
  vi.stubEnv("LIST_LAG_SECONDS", "0");
  await simulator.setTemperament({ payoutKeys });
  await simulator.addFault({ kind, operation: "createPayout" });
  expect(await run("pay-or-find")).toMatch(line);
});
