export { readRunOfFile, replayRuns, type ReplaySelection, selectRuns } from "./replay.ts";
