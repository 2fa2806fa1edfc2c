import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ReadTask } from "../client/client-process.ts";
import type { ContenderName, Read } from "../client/contenders.ts";
import { startChild } from "../child.ts";
import type { Cost } from "../measure.ts";
import { type Row, rowOf, type Target } from "../row.ts";
import { interleave, type Scenario } from "../scenario.ts";

const CONCURRENCY = 32;

const reads: Readonly<Record<Read, { readonly title: string; readonly count: number }>> = {
  small: { title: "one payout", count: 6_000 },
  list: { title: "50 payouts", count: 1_500 },
};

/** Baselines, and what is asked against each. Validation both ways is ours alone. */
const baselines: ReadonlyArray<{ readonly name: ContenderName; readonly cpu: Target }> = [
  { name: "undici", cpu: { atMost: 1.6 } },
  { name: "stripe", cpu: { atMost: 1 } },
];

type Readings = Readonly<Record<ContenderName, ReadonlyArray<Cost>>>;

const rowsOf = (read: Read, readings: Readings): ReadonlyArray<Row> =>
  baselines.flatMap(({ cpu: target, name }) => {
    const compared = (figure: keyof Cost, unit: string) => ({
      name: `client: ${reads[read].title} against ${name}`,
      unit,
      ours: readings.ours.map((reading) => reading[figure]),
      baseline: readings[name].map((reading) => reading[figure]),
    });
    return [
      rowOf({ ...compared("cpu", "µs of CPU a request"), target }),
      rowOf(compared("perSecond", "requests a second")),
    ];
  });

/** The folder from which packages are imported as their users do: built, by their names. */
const cwd = fileURLToPath(new URL("../..", import.meta.url));
const nx = fileURLToPath(new URL("../../../node_modules/nx/dist/bin/nx.js", import.meta.url));

const runNode = (args: ReadonlyArray<string>, signal?: AbortSignal) =>
  promisify(execFile)(process.execPath, args, { cwd, signal });

/** Returns a function that imports a package in a fresh process, and returns the milliseconds that it took. */
const importing = (name: string) => async () => {
  const script = `const began = performance.now();
    await import("${name}");
    console.log(performance.now() - began);
    process.exit();`;
  return Number((await runNode(["--input-type=module", "--eval", script])).stdout);
};

/** The cost for a short-lived process: a command, a test, a function in the cloud. */
const compareImports: Scenario = async (context) => {
  context.progress("building the client");
  await runNode([nx, "run", "@durable-payments/api-core:build"], context.signal);
  const measures = { ours: importing("@durable-payments/api-core"), stripe: importing("stripe") };
  // The file system keeps what was read: from the second import on.
  await interleave(measures, 1, { ...context, progress: () => {} });
  const { ours, stripe } = await interleave(measures, context.quick ? 3 : 11, context);
  const target = { atMost: 1.8 };
  return [
    rowOf({ name: "client: import against stripe", unit: "ms", ours, baseline: stripe, target }),
  ];
};

/** Imports, and CPU and requests a second on loopback, the server in another process. */
export const scenario: Scenario = async (context) => {
  const server = await startChild<object, string>("client/server-process.ts", [], context);
  const baseUrl = await server.run({});
  const start = (name: ContenderName) =>
    startChild<ReadTask, Cost>("client/client-process.ts", [name, baseUrl], context);
  const clients = {
    ours: await start("ours"),
    undici: await start("undici"),
    stripe: await start("stripe"),
  };
  if (availableParallelism() < 2) context.progress("one processor: requests a second mean little");
  const rows = [...(await compareImports(context))];
  for (const read of ["small", "list"] as const) {
    const count = reads[read].count / (context.quick ? 10 : 1);
    const task = { read, count, concurrency: CONCURRENCY };
    const measures = {
      ours: () => clients.ours.run(task),
      undici: () => clients.undici.run(task),
      stripe: () => clients.stripe.run(task),
    };
    context.progress(`${reads[read].title}: warming up`);
    await interleave(measures, context.quick ? 1 : 2, { ...context, progress: () => {} });
    rows.push(...rowsOf(read, await interleave(measures, context.quick ? 3 : 11, context)));
  }
  return rows;
};
