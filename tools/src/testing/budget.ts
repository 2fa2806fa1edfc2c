import budgets from "./test-budget.json" with { type: "json" };
import type { Started } from "./started.ts";

/** The servers, workers and bundles that the tests of a project start, and their CPU time. */
export interface Use extends Readonly<Started> {
  readonly cpuSeconds: number;
}

/** The budget of each project: test-budget.json. */
export const BUDGETS: Readonly<Record<string, Use>> = budgets;

const COUNTED = ["servers", "workers", "bundles"] as const;
const TOLERANCE = 1.2;
/** A busy machine takes more CPU for the same work: caches are cold, timers fire, and polls repeat. */
const CPU_TOLERANCE = 3;

/**
 * Compares what the tests of a project used with its budget.
 *
 * @returns a line for each number that is over it
 */
export const overBudget = (project: string, use: Use): ReadonlyArray<string> => {
  const budget = BUDGETS[project];
  if (budget === undefined)
    return [`${project} has no budget in tools/src/testing/test-budget.json`];
  const over = COUNTED.filter((kind) => use[kind] > Math.ceil(budget[kind] * TOLERANCE)).map(
    (kind) => `${project} started ${use[kind]} ${kind}; its budget is ${budget[kind]}`,
  );
  return use.cpuSeconds > budget.cpuSeconds * CPU_TOLERANCE
    ? [...over, `${project} used ${use.cpuSeconds.toFixed(0)} CPU seconds of ${budget.cpuSeconds}`]
    : over;
};
