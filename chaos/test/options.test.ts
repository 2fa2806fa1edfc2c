import { expect, it } from "vitest";
import { readOptions } from "../src/options.ts";
import { planRuns } from "../src/plan/plan-runs.ts";
import { ACCOUNTS } from "../src/plan/planned-run.ts";

const given = { runs: "200", minutes: "6", service: "simulator", ledger: "sqlite" };

it.each([
  [{ runs: "1" }, "--runs must be a whole number from 2 to 2000"],
  [{ seed: "x" }, "--seed must be a whole number"],
  [{ minutes: "0" }, "--minutes must be a whole number from 1 to 120"],
  [{ service: "bank" }, "--service must be simulator or independent"],
  [{ restore: "disk" }, "--restore must be temporal or ledger or both"],
  [{ ledger: "files" }, "--ledger must be sqlite or postgres"],
  [{ ledger: "postgres", restore: "ledger" }, "with --ledger sqlite"],
])("refuses %o before anything is started", (change, words) => {
  expect(() => readOptions({ ...given, ...change })).toThrow(words);
});

it("plans the same runs for the same seed, with unique ids and marks, of both accounts", () => {
  const existing = ACCOUNTS.flatMap((account) =>
    ["EUR", "USD", "GBP"].map((currency) => ({ account, id: `${account} ${currency}`, currency })),
  );
  const plan = (seed: number) => planRuns({ runs: 200, seed, isSimulator: true }, existing);
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
  const marks = plan(7).flatMap((run) =>
    run.makes.map(({ mark, operation }) => `${operation} ${mark}`),
  );
  expect(new Set(marks).size).toBe(marks.length);
  expect(new Set(plan(7).map(({ workflowId }) => workflowId)).size).toBe(200);
  for (const account of ACCOUNTS) {
    const kinds = plan(7).filter((run) => run.account === account);
    expect(new Set(kinds.map(({ kind }) => kind)).size).toBeGreaterThan(2);
  }
});
