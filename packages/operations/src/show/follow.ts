import { setTimeout } from "node:timers/promises";
import type { Sources } from "../connection/operations.ts";
import { readRun } from "./run.ts";
import type { RunDetails } from "./run-view.ts";

/** Longest time between two looks, in milliseconds. */
const LOOK_EVERY_MS = 2_000;

/**
 * Follows a run to its end.
 *
 * @param signal ends it; the run continues.
 * @returns a view each time that something has changed; the last one is of the end.
 */
export async function* followRun(
  sources: Sources,
  workflowId: string,
  signal: AbortSignal,
): AsyncGenerator<RunDetails> {
  let latest = "";
  while (!signal.aborted) {
    const run = await readRun(sources, workflowId);
    const seen = JSON.stringify([run.state, run.reason, run.steps]);
    if (seen !== latest) yield run;
    latest = seen;
    if (run.state !== "running") return;
    await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
