import { csv, makeRows } from "@durable-payments/tools/test-data";
import { expect, it } from "vitest";
import { jsonOf, makeStarter } from "./support/starter.ts";

it("a dry run without Temporal shows what it knows", async () => {
  const { file, starter } = await makeStarter();
  const name = await file("payouts.csv", csv(makeRows("dry", 2)));
  // Nobody listens on port 1.
  const env = { TEMPORAL_ADDRESS: "127.0.0.1:1" };
  const called = await starter(["payouts", "import", name, "--dry-run", "--json"], { env });
  expect(called.exitCode).toBe(3);
  expect(called.stderr).toContain("is not known");
  expect(jsonOf(called)).toMatchObject({
    status: "checked",
    rows: 2,
    totals: { EUR: "3.00" },
    known: null,
    funds: [{ currency: "EUR", total: "3.00", available: null, isEnough: null }],
  });
});
