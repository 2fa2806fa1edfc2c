import { createPaymentsTest, startTestServer, type TestServer } from "../src/index.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { paySupplier } from "./support/workflows.ts";

const workflowsPath = import.meta.resolve("./support/workflows.ts");
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());

it("a crash that did not come to pass fails the test", async () => {
  const payments = await createPaymentsTest({ workflowsPath, server, waitLimitMs: 120_000 });
  await payments.crashAfter("createCard");
  expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
  await expect(payments.dispose()).rejects.toThrow("no run has sent that");
});

it("a worker crashes once for each order, in the middle of each send", async () => {
  const payments = await createPaymentsTest({ workflowsPath, server, waitLimitMs: 120_000 });
  await payments.crashAfter("createBeneficiary");
  await payments.crashAfter("createPayout");
  expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
  expect((await payments.ledger()).payouts).toHaveLength(1);
  await payments.dispose();
});
