export { paySupplier } from "../examples/workflows.ts";
import { condition, sleep } from "@temporalio/workflow";

/** Waits for nothing that comes. */
export async function waitForNothing(): Promise<void> {
  await condition(() => false);
}

/** Sleeps, and answers when it has woken up. */
export async function sleepLong(): Promise<number> {
  await sleep("30 days");
  return Date.now();
}
