import { fileURLToPath } from "node:url";
import { bundleForReplay, replayHistories, type RunToReplay } from "@durable-payments/replay";

/** Returns whether a run could continue under the workflows of a module. */
export const goesOn = async (workflows: URL, run: RunToReplay): Promise<boolean> => {
  const bundle = await bundleForReplay(fileURLToPath(workflows));
  for await (const replay of replayHistories(bundle, [run])) {
    if (replay.deterministic) continue;
    console.error(replay.message, replay.lines);
    return false;
  }
  return true;
};
