import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { interleave } from "../interleave.ts";
import { startChild } from "../processes/child.ts";
import { rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import { type Author, bundleOf, bundleOfWorker } from "../workflows/bundle.ts";
import type { HeapTask } from "../workflows/heap-process.ts";
import { startTemporal, temporaryFolder } from "../workflows/world.ts";

/** What the workflows weigh: their bundle, and each run in a worker's cache. */
export const scenario: Scenario = async (context) => {
  context.progress("bundling, and starting the workers");
  const folder = await temporaryFolder(context.defer);
  const address = await startTemporal(context);
  const start = async (author: Author) => {
    const { code } = await bundleOf(author);
    const file = join(folder, `${author}.js`);
    await writeFile(file, code);
    const child = await startChild<HeapTask, number>(
      "workflows/heap-process.ts",
      [file, address],
      context,
    );
    return { child, bundle: code.length / 1024 };
  };
  const ours = await start("ours");
  const bare = await start("bare");
  const task = { runs: context.quick ? 100 : 250 };
  const measures = { ours: () => ours.child.run(task), bare: () => bare.child.run(task) };
  // The first runs bring what all runs share.
  await interleave(measures, 1, context);
  const heap = await interleave(measures, context.quick ? 2 : 6, context);
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
};
