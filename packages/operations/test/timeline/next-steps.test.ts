import { expect, it } from "vitest";
import { nextSteps } from "../../src/timeline/next-steps.ts";

const completed = {
  askedToEnd: null,
  undoes: false,
  type: "own",
  workflowId: "raced",
  runId: "run-1",
  state: "completed",
  laterRun: null,
  workerFault: null,
  failure: null,
  steps: [],
  retry: null,
} as const;

const inDoubt = [{ step: "racing", operation: "createPayout" }];

it("of a run that has completed in doubt it is said how that is settled, and no retry is offered", () => {
  const steps = nextSteps({ ...completed, inDoubt });
  expect(steps.map(({ operation }) => operation)).toEqual(["describe", "audit"]);
  expect(steps[0]?.why).toContain("settle that");
  expect(steps[0]?.why).not.toContain("go on");
});

it("one that has completed without a doubt needs nothing", () => {
  const steps = nextSteps({ ...completed, inDoubt: [] });
  expect(steps.map(({ operation }) => operation)).toEqual(["audit"]);
});

it("a run that an earlier one has sent for is not offered the retry that fails again", () => {
  const failure = { type: "SentByEarlierRun", message: "", details: { runId: "run-0" } };
  const retry = { operation: "retry", workflowId: "raced" } as const;
  const failed = { ...completed, state: "failed", failure, retry, inDoubt: [] } as const;
  expect(nextSteps(failed)).toMatchObject([
    { operation: "timeline", workflowId: "raced", runId: "run-0" },
    { operation: "retry", amend: true },
    { operation: "audit" },
  ]);
});
