import type { ScenarioEntry } from "../scenario.ts";

/** All scenarios, in the order in which they run. */
export const scenarios: ReadonlyArray<ScenarioEntry> = [];
