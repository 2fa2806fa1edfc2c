import { beneficiary, payout } from "@durable-payments/tools/test-data/inputs";
import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import type { payInvoice } from "./examples/workflows.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const { simulator, start, temporal } = await makeRig({ settleAfter: 0 });

it("the worker of the docs has 15 lines at most, pays, and drains", async () => {
  const text = readFileSync(new URL("./examples/worker.ts", import.meta.url), "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
  const worker = start("../examples/worker.ts");
  const paid = await temporal.client.workflow.execute<typeof payInvoice>("payInvoice", {
    workflowId: "invoice-1",
    taskQueue: "payments",
    args: [{ supplier: beneficiary, payment: payout }],
  });
  expect(paid.payout_status).toBe("completed");
  expect((await simulator.state()).payouts).toHaveLength(1);
  expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
  // Of its three companions, two have activities alone.
  const warnings = worker
    .stderr()
    .split("\n")
    .filter((line) => /\[(WARN|ERROR)\]/.test(line));
  expect(warnings.filter((line) => !line.includes("No workflows registered"))).toEqual([]);
});
