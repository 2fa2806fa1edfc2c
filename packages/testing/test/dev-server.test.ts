import { PAYMENT_IDS, trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { CannotStart } from "@durable-payments/plugin";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import {
  createPaymentsTest,
  type PaymentsTestOptions,
  startTestServer,
  type TestServer,
} from "../src/index.ts";
import { paySupplier } from "./support/workflows.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer("dev");
});
afterAll(() => server.dispose());

const paymentsTest = (options: PaymentsTestOptions = {}) =>
  createPaymentsTest({
    server,
    workflowsPath: import.meta.resolve("./support/workflows.ts"),
    waitLimitMs: 120_000,
    ...options,
  });

it("a real server runs the same test", async () => {
  await using payments = await paymentsTest({
    approveAbove: { USD: "1000.00" },
    simulator: { settleAfter: 0 },
  });
  await payments.crashAfter("createPayout");
  const run = await payments.start(paySupplier, ["5000.00"]);
  await run.approve("Bob");
  expect(await run.result()).toBe("completed");
  expect((await payments.ledger()).payouts).toHaveLength(1);
  expect(await payments.replay()).toEqual([run.workflowId]);
});

it("the tracker of its worker tells a run that its payout has ended, which would look in an hour itself", async () => {
  await using payments = await paymentsTest({ simulator: { settleAfter: Infinity } });
  const run = await payments.start(paySupplier, ["12.50"]);
  await run.untilStage("awaitPayout");
  const { payouts } = await payments.ledger();
  await payments.simulator.setPayoutStatus(payouts[0]?.payout_id ?? "", "completed");
  expect(await run.result()).toBe("completed");
  const { clientId, url: baseUrl } = payments.simulator;
  const tracker = trackerId(accountHash({ baseUrl, clientId }));
  const { status } = await payments.client.workflow.getHandle(tracker).describe();
  expect(status.name).toBe("RUNNING");
});

it("refuses what a worker refuses when it starts, and leaves nothing behind", async () => {
  const wrong = paymentsTest({ approveAbove: { usd: "1.00" } });
  await expect(wrong).rejects.toBeInstanceOf(CannotStart);
  await expect(wrong).rejects.toThrow("approveAbove must be a JSON object");
  const taken = paymentsTest({ activities: { createPayout: async () => undefined } });
  await expect(taken).rejects.toThrow("PaymentsPlugin brings the activities createPayout itself");
  const { operatorService } = server.environment.connection;
  await operatorService.removeSearchAttributes({
    namespace: "default",
    searchAttributes: [PAYMENT_IDS.name],
  });
  await vi.waitFor(
    async () =>
      await expect(paymentsTest()).rejects.toThrow(
        "lacks search attributes that every run needs (PaymentIds)",
      ),
    { timeout: 120_000, interval: 200 },
  );
});
