import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { spawnProcess } from "../src/processes.ts";
import { processesLeftBehind } from "../src/testing/counts-reporter.ts";

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
