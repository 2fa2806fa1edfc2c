import { availableParallelism } from "node:os";
import type { ReadReading, ReadTask } from "../client/client-process.ts";
import { type ContenderName, contenders, type Read } from "../client/contenders.ts";
import { type Child, startChild } from "../child.ts";
import { type Row, rowOf, type Target } from "../row.ts";
import { interleave, type Scenario } from "../scenario.ts";

const CONCURRENCY = 32;

const reads: Readonly<Record<Read, { readonly title: string; readonly requests: number }>> = {
  small: { title: "one payout", requests: 6_000 },
  list: { title: "50 payouts", requests: 1_500 },
};

/** Baselines, and what is asked against each. Validation both ways is ours alone. */
const baselines: ReadonlyArray<{ readonly name: ContenderName; readonly cpu: Target }> = [
  { name: "undici", cpu: { atMost: 1.6 } },
  { name: "stripe", cpu: { atMost: 1 } },
];

type Readings = Readonly<Record<ContenderName, ReadonlyArray<ReadReading>>>;

const rowsOf = (read: Read, readings: Readings): ReadonlyArray<Row> => {
  const { title } = reads[read];
  const cpu = (name: ContenderName) => readings[name].map((reading) => reading.cpu);
  const perSecond = (name: ContenderName) => readings[name].map((reading) => reading.perSecond);
  const cpuUnit = "µs of CPU a request";
  return [
    ...baselines.map(({ cpu: target, name }) =>
      rowOf({
        name: `client: ${title} against ${name}`,
        unit: cpuUnit,
        ours: cpu("ours"),
        baseline: cpu(name),
        target,
      }),
    ),
    ...baselines.map(({ name }) =>
      rowOf({
        name: `client: ${title} against ${name}`,
        unit: "requests a second",
        ours: perSecond("ours"),
        baseline: perSecond(name),
      }),
    ),
  ];
};

/** CPU and requests a second on loopback, the server in another process. */
export const scenario: Scenario = async (context) => {
  const server = await startChild<object, string>("client/server-process.ts", [], context);
  const baseUrl = await server.run({});
  const clients = new Map<ContenderName, Child<ReadTask, ReadReading>>();
  // The keys of the contenders are their names.
  for (const name of Object.keys(contenders) as ReadonlyArray<ContenderName>) {
    clients.set(name, await startChild("client/client-process.ts", [name, baseUrl], context));
  }
  if (availableParallelism() < 2) context.progress("one processor: requests a second mean little");
  const rows: Array<Row> = [];
  for (const read of ["small", "list"] as const) {
    const requests = context.quick ? reads[read].requests / 10 : reads[read].requests;
    const task = { read, requests, concurrency: CONCURRENCY };
    const measure = (name: ContenderName) => async () => {
      const client = clients.get(name);
      if (client === undefined) throw new Error(`${name} was not started`);
      return await client.run(task);
    };
    const measures = {
      ours: measure("ours"),
      undici: measure("undici"),
      stripe: measure("stripe"),
    };
    context.progress(`${reads[read].title}: warming up`);
    await interleave(measures, context.quick ? 1 : 2, { ...context, progress: () => {} });
    rows.push(...rowsOf(read, await interleave(measures, context.quick ? 3 : 11, context)));
  }
  return rows;
};
