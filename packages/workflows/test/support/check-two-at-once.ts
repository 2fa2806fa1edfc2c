import { sleep } from "@temporalio/workflow";
import { beginRun, checkRequests } from "../../src/index.ts";

/** Checks two requests side by side, and goes on with each as soon as it is checked. */
export async function checkTwoAtOnce(): Promise<void> {
  const run = beginRun();
  return run.execute(async () => {
    await Promise.all(
      ["first", "second"].map(async (name) => {
        await checkRequests(run, [{ operation: "createPayout", input: {}, at: name }]);
        await run.step(name, "waiting", () => sleep("1 second"));
      }),
    );
  });
}
