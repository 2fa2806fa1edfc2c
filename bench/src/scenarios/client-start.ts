import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ReadReading, ReadTask } from "../client/client-process.ts";
import type { ContenderName } from "../client/contenders.ts";
import { startChild } from "../child.ts";
import { rowOf } from "../row.ts";
import { interleave, type Scenario, type ScenarioContext } from "../scenario.ts";

const CONCURRENCY = 32;
const WARM_UP = 1_000;
const MEASURED = 5_000;

/** The folder from which packages are imported as their users do: built, by their names. */
const folder = fileURLToPath(new URL("../..", import.meta.url));

/** Builds the client as `npm run build` does; does nothing if it is built already. */
const build = async (signal: AbortSignal): Promise<void> => {
  const nx = fileURLToPath(new URL("../../../node_modules/nx/dist/bin/nx.js", import.meta.url));
  const args = [nx, "run-many", "--target=build", "--projects=@durable-payments/api-core"];
  await promisify(execFile)(process.execPath, args, { cwd: folder, signal });
};

/** Imports a package in a fresh process. */
const millisecondsOf = async (name: string): Promise<number> => {
  const script = `const began = performance.now();
    await import("${name}");
    console.log(performance.now() - began);
    process.exit();`;
  const args = ["--input-type=module", "--eval", script];
  return Number((await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout);
};

/** A fresh process's CPU from its 1,000th to its 6,000th request, in µs a request. */
const freshCpu = async (
  name: ContenderName,
  baseUrl: string,
  context: ScenarioContext,
): Promise<number> => {
  const client = await startChild<ReadTask, ReadReading>(
    "client/client-process.ts",
    [name, baseUrl],
    context,
  );
  try {
    const task = { read: "small", concurrency: CONCURRENCY } as const;
    await client.run({ ...task, requests: WARM_UP });
    return (await client.run({ ...task, requests: MEASURED })).cpu;
  } finally {
    await client.stop();
  }
};

/** The cost for a short-lived process: a command, a test, a function in the cloud. */
export const scenario: Scenario = async (context) => {
  context.progress("building the client");
  await build(context.signal);
  const server = await startChild<object, string>("client/server-process.ts", [], context);
  const baseUrl = await server.run({});
  const fresh = (name: ContenderName) => () => freshCpu(name, baseUrl, context);
  const measures = {
    import: () => millisecondsOf("@durable-payments/api-core"),
    importStripe: () => millisecondsOf("stripe"),
    ours: fresh("ours"),
    undici: fresh("undici"),
    stripe: fresh("stripe"),
  };
  // The file system keeps what was read: from the second start on.
  await interleave(measures, 1, { ...context, progress: () => {} });
  const readings = await interleave(measures, context.quick ? 3 : 11, context);
  const cpu = "µs of CPU a request";
  return [
    rowOf({
      name: "client-start: import against stripe",
      unit: "ms",
      ours: readings.import,
      baseline: readings.importStripe,
      target: { atMost: 1.8 },
    }),
    rowOf({
      name: "client-start: 1,000th to 6,000th request against undici",
      unit: cpu,
      ours: readings.ours,
      baseline: readings.undici,
      target: { atMost: 1.5 },
    }),
    rowOf({
      name: "client-start: 1,000th to 6,000th request against stripe",
      unit: cpu,
      ours: readings.ours,
      baseline: readings.stripe,
      target: { atMost: 1 },
    }),
  ];
};
