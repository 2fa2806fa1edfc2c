import { ApplicationFailure } from "@temporalio/common";
import { condition, continueAsNew, defineSignal, setHandler } from "@temporalio/workflow";
import { beginRun } from "../../src/run/run.ts";

export const failingSignal = defineSignal("failing");

/** Registers how something is undone, and continues as new, or waits for a signal whose handler fails. */
export function registerUndo(end: "continue" | "return" | "wait"): Promise<void> {
  const run = beginRun();
  setHandler(failingSignal, async () => {
    throw ApplicationFailure.nonRetryable("The handler has failed.");
  });
  return run.execute(async () => {
    if (end === "return") return;
    run.onFailure({ what: "end the lease", how: async () => run.note("the lease has ended") });
    if (end === "continue") await continueAsNew<typeof registerUndo>("return");
    await condition(() => false);
  });
}
