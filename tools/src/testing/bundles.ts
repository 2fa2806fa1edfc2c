import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowBundle } from "@temporalio/worker";
import { filesOfRun } from "./run.ts";

const LOOK_EVERY_MS = 100;

/**
 * Makes a bundle of workflow code once for all processes of a run of tests: webpack takes three seconds of CPU.
 *
 * @param name names the code, and how it is bundled.
 */
export const sharedBundle = async (
  name: string,
  make: () => Promise<WorkflowBundle>,
): Promise<WorkflowBundle> => {
  const folder = join(filesOfRun(), name);
  const file = join(folder, "bundle.js");
  while (!existsSync(file)) {
    // The process that makes the folder makes the bundle. If it fails, the next one tries.
    if (mkdirSync(folder, { recursive: true }) === undefined) {
      await sleep(LOOK_EVERY_MS);
      continue;
    }
    try {
      const { code } = await make();
      writeFileSync(`${file}.partial`, code);
      renameSync(`${file}.partial`, file);
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
  }
  return { code: readFileSync(file, "utf8") };
};
