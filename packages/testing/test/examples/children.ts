import { beginRun, runChild } from "@durable-payments/workflows";
import { paySupplier } from "./workflows.ts";

export { paySupplier };

/** Pays our supplier twice, each time in a child of its own. */
export async function payBoth(first: string, second: string) {
  const run = beginRun();
  return run.execute(async () => [
    await runChild(run, paySupplier, { step: "first", args: [first] }),
    await runChild(run, paySupplier, { step: "second", args: [second] }),
  ]);
}
