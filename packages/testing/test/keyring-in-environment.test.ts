import { expect, it, vi } from "vitest";
import { createPaymentsTest } from "../src/index.ts";
import { paySupplier } from "./support/workflows.ts";

it("variables of the tests' own process say nothing of how a test encrypts", async () => {
  vi.stubEnv("PAYMENTS_KEYRING", "/nowhere");
  try {
    await using payments = await createPaymentsTest({
      workflowsPath: import.meta.resolve("./support/workflows.ts"),
    });
    await payments.run(paySupplier, ["12.50"]);
    expect((await payments.ledger()).payouts).toHaveLength(1);
  } finally {
    vi.unstubAllEnvs();
  }
});
