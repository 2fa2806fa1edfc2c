import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interleave } from "../interleave.ts";
import { type Child, startChild } from "../processes/child.ts";
import { rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import { type Author, bundleOf, bundleOfWorker } from "../workflows/bundle.ts";
import type { HeapTask } from "../workflows/heap-process.ts";
import { startWorld } from "../workflows/world.ts";

/** What the workflows weigh: their bundle, and each run in a worker's cache. */
export const scenario: Scenario = async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "bench-footprint-"));
  const world = await startWorld();
  const children: Array<Child<HeapTask, number>> = [];
  const start = async (author: Author) => {
    const { code } = await bundleOf(author);
    const file = join(folder, `${author}.js`);
    await writeFile(file, code);
    const child = await startChild<HeapTask, number>(
      new URL("../workflows/heap-process.ts", import.meta.url),
      [file, world.temporalAddress],
    );
    children.push(child);
    return { child, bundle: code.length / 1024 };
  };
  try {
    context.progress("bundling, and starting the workers");
    const ours = await start("ours");
    const bare = await start("bare");
    const task = { runs: context.quick ? 100 : 250 };
    const measures = { ours: () => ours.child.run(task), bare: () => bare.child.run(task) };
    // The first runs bring what all runs share.
    await interleave(measures, 1, context);
    const heap = await interleave(measures, context.quick ? 2 : 4, context);
    return [
      rowOf({
        name: "footprint: workflow bundle of payout and onboarding",
        unit: "KiB",
        ours: [ours.bundle],
        baseline: [bare.bundle],
        target: { atMost: 1.05 },
      }),
      rowOf({
        name: "footprint: workflow bundle of the worker, with all of its workflows",
        unit: "KiB",
        ours: [(await bundleOfWorker()).code.length / 1024],
        baseline: [bare.bundle],
      }),
      rowOf({
        name: "footprint: a cached payout",
        unit: "KiB of heap a run",
        ours: heap.ours,
        baseline: heap.bare,
        target: { atMost: 1.15 },
      }),
    ];
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
