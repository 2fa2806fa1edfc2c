import { expect, it } from "vitest";
import { readOptions } from "../src/options.ts";
import { planRuns } from "../src/plan/plan-runs.ts";

const given = { runs: "200", minutes: "6", service: "simulator" };

it.each([
  [{ runs: "1" }, "--runs must be a whole number from 2 to 2000"],
  [{ seed: "x" }, "--seed must be a whole number"],
  [{ minutes: "0" }, "--minutes must be a whole number from 1 to 120"],
  [{ service: "bank" }, "--service must be simulator or independent"],
  [{ restore: "disk" }, "--restore must be temporal or ledger"],
  [{ restore: "temporal", lose: "ledger" }, "Give --restore or --lose"],
])("refuses %o before anything is started", (change, words) => {
  expect(() => readOptions({ ...given, ...change })).toThrow(words);
});

it("plans the same runs for the same seed, with unique ids and marks", () => {
  const existing = ["EUR", "USD", "GBP"].map((currency) => ({ id: currency, currency }));
  const plan = (seed: number) => planRuns({ runs: 200, seed, isSimulator: true }, existing);
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
  const marks = plan(7).flatMap((run) =>
    run.kind === "onboarding" ? [run.email] : run.payments.map(({ reason }) => reason),
  );
  expect(new Set(marks).size).toBe(marks.length);
  expect(new Set(plan(7).map(({ workflowId }) => workflowId)).size).toBe(200);
});
