import { startChild } from "./child.ts";
import { type BenchContext, interleave } from "./rounds.ts";
import type { Row, Target } from "./row.ts";
import type { Author } from "./workflows/bundle.ts";
import type { RunsReading, RunsTask } from "./workflows/worker-process.ts";
import { startPostgres, startService, startTemporal } from "./workflows/world.ts";

const titles = { payout: "payout", onboardCardholder: "onboarding" } as const;
const CONCURRENCY = 16;

type RunFigure = [figure: keyof RunsReading, unit: string, target?: Target];

const runFigures: ReadonlyArray<RunFigure> = [
  ["perSecond", "runs a second", { atLeast: 0.95 }],
  ["cpu", "µs of the worker's CPU a run", { atMost: 1.15 }],
  ["events", "events a run"],
];

const compared = (
  name: string,
  [figure, unit, target]: RunFigure,
  ours: ReadonlyArray<RunsReading>,
  bare: ReadonlyArray<RunsReading>,
): Row => ({
  name,
  unit,
  ours: ours.map((reading) => reading[figure]),
  baseline: bare.map((reading) => reading[figure]),
  ...(target && { target }),
});

/** Our runs against the same calls of the service by bare workflows and activities, without a ledger. */
export const measureThroughput = async (context: BenchContext): Promise<ReadonlyArray<Row>> => {
  context.progress("bundling, and starting the workers");
  const address = await startTemporal(context);
  const postgres = await startPostgres(context);
  const start = async (author: Author, taskQueue: string, ledger?: string) =>
    startChild<RunsTask, RunsReading>(
      "workflows/worker-process.ts",
      [author, address, taskQueue],
      context,
      { ...(await startService(context)), ...(ledger && { PAYMENTS_LEDGER: ledger }) },
    );
  const sqlite = await start("ours", "bench-sqlite");
  const bare = await start("bare", "bench-bare");
  const other = postgres && (await start("ours", "bench-postgres", postgres.address("postgres")));
  const rows: Array<Row> = [];
  for (const workflow of ["payout", "onboardCardholder"] as const) {
    const title = titles[workflow];
    const measure = (count: number, rounds: number) => {
      const task = { kind: "run", workflow, count, concurrency: CONCURRENCY } as const;
      const measures = {
        SQLite: () => sqlite(task),
        bare: () => bare(task),
        ...(other && { PostgreSQL: () => other(task) }),
      };
      const progress = (text: string) => context.progress(`${title}, ${text}`);
      return interleave(measures, rounds, { ...context, progress });
    };
    const [rounds, runs] = context.quick ? [5, 60] : [15, 100];
    await measure(runs * 2, 1);
    const { bare: runsOfBare = [], ...runsOfOurs } = await measure(runs, rounds);
    for (const [ledger, ours] of Object.entries(runsOfOurs)) {
      const name = `${title}, ledger in ${ledger}`;
      rows.push(...runFigures.map((figure) => compared(name, figure, ours, runsOfBare)));
    }
  }
  return rows;
};
