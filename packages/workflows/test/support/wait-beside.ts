import { condition, defineSignal, setHandler } from "@temporalio/workflow";
import { beginRun } from "../../src/index.ts";

export const goOnSignal = defineSignal("goOn");

/** Two steps side by side: the first waits for a signal, the second ends at once. */
export async function waitBeside(): Promise<void> {
  const run = beginRun();
  let goesOn = false;
  setHandler(goOnSignal, () => {
    goesOn = true;
  });
  return run.execute(async () => {
    await Promise.all([
      run.step("first", "waiting", () => condition(() => goesOn)),
      run.step("second", "ending", () => Promise.resolve()),
    ]);
  });
}
