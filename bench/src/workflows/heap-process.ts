import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { answerTasks } from "../processes/answer-tasks.ts";
import { payoutInput } from "./inputs.ts";

/** So many runs are started and kept in the worker's cache. */
export interface HeapTask {
  readonly runs: number;
}

const LOOK_MS = 200;
const SETTLE_MS = 500;
const MOST_RUNS = 100_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const [bundleFile = "", temporalAddress = ""] = process.argv.slice(2);
// Bundled elsewhere: what the bundler leaves behind would go at any time.
const workflowBundle = { code: readFileSync(bundleFile, "utf8") };
const taskQueue = randomUUID();

Runtime.install({ logger: new DefaultLogger("ERROR") });
const connection = await NativeConnection.connect({ address: temporalAddress });
const { workflow } = new Client({ connection });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle,
  maxCachedWorkflows: MOST_RUNS,
  // Its workflows live in this thread, whose heap can be read.
  debugMode: true,
});
worker.run().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});

/** Nobody carries out activities: each run stays where it creates its payout. */
const startOne = async () => {
  const workflowId = randomUUID();
  const args = [payoutInput(randomUUID(), workflowId)];
  const handle = await workflow.start("payout", { args, taskQueue, workflowId });
  for (;;) {
    const { raw } = await handle.describe();
    if ((raw.pendingActivities?.length ?? 0) > 0) return;
    await setTimeout(LOOK_MS);
  }
};

/** What ended work leaves behind goes only when its promises and timers have. */
const heapUsed = async () => {
  for (let collected = 0; collected < 4; collected++) {
    await setTimeout(SETTLE_MS);
    collect();
  }
  return process.memoryUsage().heapUsed / 1024;
};

/** KiB of heap per cached run. */
answerTasks(async ({ runs }: HeapTask): Promise<number> => {
  const before = await heapUsed();
  for (let started = 0; started < runs; started += 10) {
    await Promise.all(Array.from({ length: 10 }, startOne));
  }
  return ((await heapUsed()) - before) / runs;
});
