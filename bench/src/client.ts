import { checkout } from "@durable-payments/tools/processes";
import { Record } from "effect";
import { execa } from "execa";
import { fileURLToPath } from "node:url";
import { startChild } from "./child.ts";
import { buildClient, clientPath } from "./client/build.ts";
import type { ContenderName, Read } from "./client/contenders.ts";
import type { ReadTask } from "./client/processes.ts";
import type { Cost } from "./cost.ts";
import { type BenchContext, interleave } from "./rounds.ts";
import type { Row, Target } from "./row.ts";

const CONCURRENCY = 32;

const reads: Readonly<Record<Read, { readonly title: string; readonly count: number }>> = {
  small: { title: "one payout", count: 6_000 },
  list: { title: "50 payouts", count: 1_500 },
};

/** Targets against each baseline. Ours alone checks requests and answers. */
const targets: Readonly<Record<Read, Readonly<Record<"undici" | "stripe", Target>>>> = {
  small: { undici: { atMost: 1.45 }, stripe: { atMost: 0.35 } },
  list: { undici: { atMost: 1.7 }, stripe: { atMost: 0.8 } },
};

const contendersFile = fileURLToPath(new URL("client/contenders.ts", import.meta.url));

/** The µs of CPU of a fresh process: a command, a test, a function in the cloud. */
const starting = (script: string) => async () => {
  const measured = `const before = process.cpuUsage();
    ${script}
    const { system, user } = process.cpuUsage(before);
    console.log((system + user) / 1000);
    process.exit();`;
  const args = ["--conditions=@durable-payments/source", "--input-type=module", "--eval", measured];
  return Number((await execa(process.execPath, args, { cwd: checkout })).stdout);
};

const measureStarts = async (
  context: BenchContext,
  baseUrl: string,
): Promise<ReadonlyArray<Row>> => {
  const importing = (module: string) => starting(`await import(${JSON.stringify(module)});`);
  const calling = (name: ContenderName) =>
    starting(
      `const { contenders } = await import(${JSON.stringify(contendersFile)});
       await (await contenders[${JSON.stringify(name)}](${JSON.stringify(baseUrl)})).small();`,
    );
  const rounds = context.quick ? 3 : 15;
  const compare = async (
    name: string,
    target: Target,
    measures: Readonly<Record<"ours" | "stripe", () => Promise<number>>>,
  ): Promise<Row> => {
    context.progress(name);
    // The file system keeps what was read: from the second import on.
    await interleave(measures, 1, context);
    const { ours = [], stripe: baseline = [] } = await interleave(measures, rounds, context);
    return { name, unit: "ms of CPU", ours, baseline, target };
  };
  return [
    await compare(
      "client: import against stripe",
      { atMost: 0.8 },
      { ours: importing(clientPath), stripe: importing("stripe") },
    ),
    await compare(
      "client: import and first call against stripe",
      { atMost: 1 },
      { ours: calling("ours"), stripe: calling("stripe") },
    ),
  ];
};

/** Measures the client: imports and first calls, and CPU a request on loopback, the server in another process. */
export const measureClient = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  context.progress("building the client");
  await buildClient();
  const serve = await startChild<object, { readonly baseUrl: string }>(
    "client/server-process.ts",
    [],
    context,
  );
  const { baseUrl } = await serve({});
  const start = (name: ContenderName) =>
    startChild<ReadTask, Cost>("client/processes.ts", [name, baseUrl], context);
  const clients = {
    ours: await start("ours"),
    undici: await start("undici"),
    stripe: await start("stripe"),
  };
  const rows = [...(await measureStarts(context, baseUrl))];
  for (const read of ["small", "list"] as const) {
    const count = reads[read].count / (context.quick ? 10 : 1);
    const task = { read, count, concurrency: CONCURRENCY };
    const measures = Record.map(clients, (client) => () => client(task));
    await interleave(measures, 2, context);
    const readings = await interleave(measures, context.quick ? 3 : 15, context);
    const { ours = [] } = readings;
    for (const name of ["undici", "stripe"] as const) {
      rows.push({
        name: `client: ${reads[read].title} against ${name}`,
        unit: "µs of CPU a request",
        ours: ours.map(({ cpu }) => cpu),
        baseline: (readings[name] ?? []).map(({ cpu }) => cpu),
        target: targets[read][name],
      });
    }
  }
  return rows;
};
