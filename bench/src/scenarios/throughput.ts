import { interleave } from "../interleave.ts";
import { type Child, startChild } from "../processes/child.ts";
import { type Row, rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import type { Author } from "../workflows/bundle.ts";
import type { WorkflowName } from "../workflows/inputs.ts";
import type { RunsReading, RunsTask } from "../workflows/worker-process.ts";
import { startWorld } from "../workflows/world.ts";

const titles: Readonly<Record<WorkflowName, string>> = {
  payout: "payout",
  onboardCardholder: "onboarding",
};

const CONCURRENCY = 16;
const PART = 0.95;

type Readings = Readonly<Record<Author, ReadonlyArray<RunsReading>>>;

const compared = (
  { bare, ours }: Readings,
  figure: keyof RunsReading,
): { readonly ours: ReadonlyArray<number>; readonly baseline: ReadonlyArray<number> } => ({
  ours: ours.map((reading) => reading[figure]),
  baseline: bare.map((reading) => reading[figure]),
});

/** Our runs against the same steps on the bare SDK: same activities, queues, options and server. */
export const scenario: Scenario = async (context) => {
  const world = await startWorld(context);
  const children: Array<Child<RunsTask, RunsReading>> = [];
  const start = async (author: Author) => {
    const child = await startChild<RunsTask, RunsReading>(
      new URL("../workflows/worker-process.ts", import.meta.url),
      [author, world.temporalAddress, `bench-${author}`],
      { env: world.serviceVariables },
    );
    children.push(child);
    return child;
  };
  try {
    context.progress("bundling, and starting the workers");
    const ours = await start("ours");
    const bare = await start("bare");
    const rows: Array<Row> = [];
    for (const workflow of ["payout", "onboardCardholder"] as const) {
      const readings = (kind: RunsTask["kind"], count: number, rounds: number) => {
        const task = { kind, workflow, count, concurrency: CONCURRENCY };
        return interleave({ ours: () => ours.run(task), bare: () => bare.run(task) }, rounds, {
          ...context,
          progress: (text) => context.progress(`${titles[workflow]}, ${kind}, ${text}`),
        });
      };
      const rounds = context.quick ? 3 : 11;
      await readings("run", context.quick ? 20 : 100, 1);
      const run = await readings("run", context.quick ? 20 : 100, rounds);
      await readings("replay", context.quick ? 20 : 200, 1);
      const replay = await readings("replay", context.quick ? 20 : 200, rounds);
      const name = `throughput: ${titles[workflow]}`;
      rows.push(
        rowOf({
          name,
          unit: "runs a second",
          ...compared(run, "perSecond"),
          target: { atLeast: PART },
        }),
        rowOf({ name, unit: "ms of the worker's CPU a run", ...compared(run, "cpu") }),
        rowOf({ name, unit: "events a run", ...compared(run, "events") }),
        rowOf({
          name: `${name}, replayed`,
          unit: "events a second",
          ...compared(replay, "perSecond"),
          target: { atLeast: PART },
        }),
        rowOf({ name: `${name}, replayed`, unit: "ms of CPU a run", ...compared(replay, "cpu") }),
      );
    }
    return rows;
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await world.stop();
  }
};
