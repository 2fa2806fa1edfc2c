import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { spawnProcess } from "../src/processes.ts";
import { overBudget } from "../src/testing/budget.ts";
import { processesLeftBehind, useByProject } from "../src/testing/counts-reporter.ts";

it("finds a process that a run of tests has left behind, and waits for one that is ending", async () => {
  const env = { DURABLE_PAYMENTS_TEST_RUN: "planted" };
  const planted = spawnProcess("sleep", ["30"], { env });
  onTestFinished(() => planted.kill().then(() => undefined));
  expect(await processesLeftBehind("planted", 300)).toEqual([`${planted.pid} sleep 30 `]);
  const looking = processesLeftBehind("planted");
  await sleep(100);
  await planted.kill();
  expect(await looking).toEqual([]);
});

const file = (project: string, process: number, servers: number, cpu: number) => ({
  project: { name: project },
  meta: () => ({ process, used: { servers, workers: 0, bundles: 0, cpu } }),
});

it("sums what each project has used from the totals of the processes that ran its files", () => {
  const files = [file("b", 1, 3, 9), file("a", 1, 1, 2), file("a", 2, 1, 4), file("a", 1, 3, 5)];
  expect(Object.fromEntries(useByProject(files))).toEqual({
    a: { servers: 4, workers: 0, bundles: 0, cpuSeconds: 9 },
    b: { servers: 0, workers: 0, bundles: 0, cpuSeconds: 4 },
  });
});

it("refuses a project that starts more than its budget, or has none", () => {
  const name = "@durable-payments/workflows";
  const use = { servers: 0, workers: 0, bundles: 0, cpuSeconds: 1 };
  expect(overBudget(name, use)).toEqual([]);
  expect(overBudget(name, { ...use, servers: 1_000, cpuSeconds: 9_999 })).toHaveLength(2);
  expect(overBudget("nobody", use)).toHaveLength(1);
});
