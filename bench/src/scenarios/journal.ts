import { interleave } from "../interleave.ts";
import { type Child, startChild } from "../processes/child.ts";
import { rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import type { RunsReading, RunsTask } from "../workflows/worker-process.ts";
import { startWorld } from "../workflows/world.ts";

const PART = 0.95;

/** Payouts of a worker with the journal that it has by default, against one that has none. */
export const scenario: Scenario = async (context) => {
  const world = await startWorld(context);
  const children: Array<Child<RunsTask, RunsReading>> = [];
  const start = async (taskQueue: string, variables: NodeJS.ProcessEnv = {}) => {
    const child = await startChild<RunsTask, RunsReading>(
      new URL("../workflows/worker-process.ts", import.meta.url),
      ["ours", world.temporalAddress, taskQueue],
      { env: { ...world.serviceVariables, ...variables } },
    );
    children.push(child);
    return child;
  };
  try {
    context.progress("bundling, and starting the workers");
    const file = await start("bench-file");
    const none = await start("bench-none", { PAYMENTS_JOURNAL: "none" });
    const rows = [];
    for (const concurrency of [16, 64]) {
      const count = (context.quick ? 2 : 8) * concurrency;
      const task = { kind: "run", workflow: "payout", count, concurrency } as const;
      const readings = (rounds: number) =>
        interleave({ file: () => file.run(task), none: () => none.run(task) }, rounds, context);
      await readings(1);
      const measured = await readings(context.quick ? 3 : 11);
      const compared = (figure: keyof RunsReading) => ({
        ours: measured.file.map((reading) => reading[figure]),
        baseline: measured.none.map((reading) => reading[figure]),
      });
      const name = `journal: payouts, ${concurrency} at once`;
      rows.push(
        rowOf({
          name,
          unit: "runs a second",
          ...compared("perSecond"),
          target: { atLeast: PART },
        }),
        rowOf({ name, unit: "ms of the worker's CPU a run", ...compared("cpu") }),
      );
    }
    return rows;
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await world.stop();
  }
};
