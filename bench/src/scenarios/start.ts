import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { startProcess } from "@durable-payments/tools/testing";
import { interleave } from "../interleave.ts";
import { rowOf, type Target } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import { argumentsOf, prepare } from "../start/prepare.ts";
import { startWorld } from "../workflows/world.ts";

const ABOVE_NODE: Target = { atMostAbove: 0.3 };

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
};

/** A process from its start to its end, which must be a good one. */
const whole = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) =>
  seconds(async () => {
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${String(code)}`);
  });

const started = async (start: () => Promise<{ readonly kill: () => Promise<unknown> }>) => {
  let kill: (() => Promise<unknown>) | undefined;
  const took = await seconds(async () => {
    ({ kill } = await start());
  });
  await kill?.();
  return took;
};

/** How long people wait for the starter, and deployments for a worker. */
export const scenario: Scenario = async (context) => {
  context.progress("building");
  const { bareBundle, payoutFile, remove } = await prepare();
  const world = await startWorld(context);
  try {
    const env = { ...world.serviceVariables, TEMPORAL_ADDRESS: world.temporalAddress };
    // Nobody polls it: what is started stays as it is.
    const starting = { ...env, PAYMENTS_TASK_QUEUE: "bench-start" };
    const start = (main: ReadonlyArray<string>) => () =>
      whole([...main, "payout", "--file", payoutFile, "--id", randomUUID()], starting);
    const help = (main: ReadonlyArray<string>) => () => whole([...main, "--help"]);
    const workerOf = (main: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) =>
      started(() => startProcess(process.execPath, main, env));
    // What `./starter` and `npm run worker` run.
    const BUILT = argumentsOf("apps/starter/dist/app/main.mjs");
    const SOURCES = argumentsOf("apps/starter/src/main.ts");
    const contenders = {
      node: () => whole(["-e", "0"]),
      help: help(BUILT),
      start: start(BUILT),
      helpOfSources: help(SOURCES),
      startOfSources: start(SOURCES),
      bareWorker: () =>
        workerOf([
          ...argumentsOf("bench/src/start/bare-worker.ts"),
          world.temporalAddress,
          bareBundle,
        ]),
      worker: () => workerOf([...argumentsOf("apps/worker/dist/app/main.mjs"), "--json"], env),
      workerOfSources: () => workerOf([...argumentsOf("apps/worker/src/main.ts"), "--json"], env),
    };
    // Node keeps what it has compiled: from the second start on.
    await interleave(contenders, 1, { ...context, progress: () => {} });
    const readings = await interleave(contenders, context.quick ? 3 : 15, context);
    const above = (name: string, ours: ReadonlyArray<number>, target?: Target) =>
      rowOf({ name, unit: "s", ours, baseline: readings.node, ...(target && { target }) });
    const polling = (name: string, ours: ReadonlyArray<number>, target?: Target) =>
      rowOf({ name, unit: "s", ours, baseline: readings.bareWorker, ...(target && { target }) });
    return [
      above("start: starter --help, against node -e 0", readings.help, ABOVE_NODE),
      above("start: starter to a started run, against node -e 0", readings.start, ABOVE_NODE),
      above("start: --help without a build, against node -e 0", readings.helpOfSources),
      above("start: a started run without a build, against node -e 0", readings.startOfSources),
      polling(
        "start: worker with prebuilt bundle to polling, against a bare one",
        readings.worker,
        { atMost: 1.2 },
      ),
      polling(
        "start: worker from its sources to polling, against a bare one",
        readings.workerOfSources,
      ),
    ];
  } finally {
    await world.stop();
    remove();
  }
};
