import { clientOptionsWithEnvironment } from "@durable-payments/api-core";
import { startSimulator } from "@durable-payments/simulator";
import * as Effect from "effect/Effect";
import { afterAll, expect, it } from "vitest";
import { checkService } from "../../src/doctor/service-checks.ts";

const simulator = await startSimulator({ clientId: "client-eu" });
afterAll(() => simulator.stop());

/** What is wrong with an account of these credentials, as a person reads it. */
const faultOf = async (
  { apiKey, baseUrl = simulator.url }: { readonly apiKey: string; readonly baseUrl?: string },
  name?: string,
) => {
  const settings = clientOptionsWithEnvironment({ clientId: "client-eu", apiKey, baseUrl });
  const checks = await checkService(await Effect.runPromise(Effect.result(settings)), name);
  const { detail = "", remedy = "" } = checks.find(({ status }) => status === "failed") ?? {};
  return `${detail} ${remedy}`;
};

const UNREACHABLE = "http://127.0.0.1:9";

it.each([
  ["refused", { apiKey: "another" }, ["PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY"]],
  ["that cannot be sent", { apiKey: "" }, ["PAYMENTS_API_KEY (apiKey)", ".env"]],
  ["unreachable", { apiKey: "key", baseUrl: UNREACHABLE }, ["PAYMENTS_BASE_URL"]],
] as const)(
  "of the account without a name the variables are named: %s",
  async (_, wrong, named) => {
    const fault = await faultOf(wrong);
    for (const variable of named) expect(fault).toContain(variable);
    expect(fault).not.toContain("PAYMENTS_ACCOUNTS_FILE");
  },
);

it.each([
  [
    "refused",
    { apiKey: "another" },
    ["clientId and apiKey", "clientId, and apiKey or apiKeyFile,"],
  ],
  ["that cannot be sent", { apiKey: "" }, ["apiKey must"]],
  ["unreachable", { apiKey: "key", baseUrl: UNREACHABLE }, ["baseUrl"]],
] as const)("of an account with a name, what stands in its file: %s", async (_, wrong, named) => {
  const fault = await faultOf(wrong, "eu");
  for (const setting of named) expect(fault).toContain(setting);
  expect(fault).toContain("of the account eu, in the file that PAYMENTS_ACCOUNTS_FILE names,");
  expect(fault).not.toMatch(/PAYMENTS_(CLIENT_ID|API_KEY)/);
});
