import type { Payments } from "@durable-payments/control/payments";
import { expect, it, vi } from "vitest";
import { runCli } from "./support/run-cli.ts";

// Its worker is stubbed: the tests of notifications post to real endpoints.
const delivery = { host: "hooks.example.com", status: 500, tookMs: 12, why: "answers 500" };
let isDelivered = false;
vi.mock("../src/work.ts", async (original) => {
  const work = await original<typeof import("../src/work.ts")>();
  const upkeep = { testWebhook: async () => ({ ...delivery, isDelivered }) };
  const withPayments: typeof work.withPayments = (act) => act({ upkeep } as unknown as Payments);
  return { ...work, withPayments };
});

it.each([
  [false, 1, "Not delivered to hooks.example.com: answers 500."],
  [true, 0, "Delivered to hooks.example.com: status 500, in 12 ms."],
])("a test notification whose delivery is %s ends with %i", async (given, code, text) => {
  isDelivered = given;
  expect(await runCli("doctor", "--test-webhook")).toMatchObject({ code, stdout: `${text}\n` });
  expect(await runCli("doctor", "--test-webhook", "--json")).toMatchObject({ code });
});
