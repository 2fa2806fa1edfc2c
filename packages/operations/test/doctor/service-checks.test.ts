import { makeClientOptions } from "@durable-payments/api-core";
import { startSimulator } from "@durable-payments/simulator";
import { afterAll, expect, it } from "vitest";
import { answeredIn, checkService } from "../../src/doctor/doctor.ts";

const simulator = await startSimulator({ clientId: "client-eu", apiKey: "key" });
afterAll(() => simulator.stop());

const found = async (apiKey: string, baseUrl = simulator.url) => {
  const checks = await checkService(makeClientOptions({ clientId: "client-eu", apiKey, baseUrl }));
  return checks.map(({ name, status }) => `${name} ${status}`);
};

it.each([
  ["answers", "key", undefined, ["service ok", "sign-in ok"]],
  ["refuses the credentials", "another", undefined, ["service ok", "sign-in failed"]],
  ["gives no answer", "key", "http://127.0.0.1:9", ["service failed", "sign-in skipped"]],
  ["has wrong settings", "", undefined, ["service failed", "sign-in skipped"]],
] as const)("says whether the service %s", async (_, apiKey, baseUrl, checks) => {
  expect(await found(apiKey, baseUrl)).toEqual(checks);
});

it("takes a service that answers after nine seconds for slow, not for down", () => {
  expect(answeredIn("http://service", 9_000)).toMatchObject({ status: "warning" });
  expect(answeredIn("http://service", 300)).toMatchObject({ status: "ok" });
});
