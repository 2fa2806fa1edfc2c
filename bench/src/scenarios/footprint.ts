import { interleave } from "../interleave.ts";
import { type Child, startChild } from "../processes/child.ts";
import { rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import type { Author } from "../workflows/bundle.ts";
import type { HeapReading, HeapTask } from "../workflows/heap-process.ts";
import { startWorld } from "../workflows/world.ts";

const target = { atMost: 1.15 };

/** What the workflows weigh: their bundle, and each run in a worker's cache. */
export const scenario: Scenario = async (context) => {
  const world = await startWorld();
  const children: Array<Child<HeapTask, HeapReading>> = [];
  const start = async (author: Author) => {
    const child = await startChild<HeapTask, HeapReading>(
      new URL("../workflows/heap-process.ts", import.meta.url),
      [author, world.temporalAddress],
      { env: world.serviceVariables },
    );
    children.push(child);
    return child;
  };
  try {
    context.progress("bundling, and starting the workers");
    const ours = await start("ours");
    const bare = await start("bare");
    const task = { runs: context.quick ? 100 : 250 };
    const measures = { ours: () => ours.run(task), bare: () => bare.run(task) };
    // The first runs bring what all runs share.
    await interleave(measures, 1, context);
    const readings = await interleave(measures, context.quick ? 2 : 4, context);
    const row = (name: string, unit: string, figure: keyof HeapReading) =>
      rowOf({
        name: `footprint: ${name}`,
        unit,
        ours: readings.ours.map((reading) => reading[figure]),
        baseline: readings.bare.map((reading) => reading[figure]),
        target,
      });
    return [
      row("workflow bundle", "KiB", "bundle"),
      row("a cached payout", "KiB of heap a run", "heap"),
    ];
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await world.stop();
  }
};
