import { spawnProcess } from "@durable-payments/tools/processes";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { planRuns } from "../src/plan/plan-runs.ts";
import { ACCOUNTS } from "../src/plan/planned-run.ts";

it.each([
  [["--runs", "1"], 2, "a whole number from 2 to 2000"],
  [["--seed", "x"], 2, "Invalid value for flag --seed"],
  [["--ledger", "postgres", "--restore", "ledger"], 1, "with --ledger sqlite"],
])("refuses %j before anything is started", async (args, code, words) => {
  const started = spawnProcess(process.execPath, [
    "--conditions=@durable-payments/source",
    fileURLToPath(new URL("../src/main.ts", import.meta.url)),
    ...args,
  ]);
  expect(await started.exited).toMatchObject({ code });
  expect(started.stderr()).toContain(words);
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
