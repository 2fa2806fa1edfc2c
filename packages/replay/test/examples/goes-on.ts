import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleForReplay, readRun, replayHistories } from "@durable-payments/replay";

/** Returns whether the run of an exported history could continue under the workflows of a module. */
export const goesOn = async (workflows: URL, file: string): Promise<boolean> => {
  const bundle = await bundleForReplay(fileURLToPath(workflows));
  const run = readRun(JSON.parse(await readFile(file, "utf8")));
  for await (const replay of replayHistories(bundle, [run])) {
    if (replay.deterministic) continue;
    console.error(replay.message, replay.lines);
    return false;
  }
  return true;
};
