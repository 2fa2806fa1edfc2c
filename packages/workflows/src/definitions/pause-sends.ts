import { condition } from "@temporalio/workflow";

/**
 * While this runs under the id of a task queue's pause, no activity of that task queue sends a
 * write; waiting and reading lists go on. It does nothing but run, so that the pause takes hold and
 * ends without any worker: it is started to pause and terminated to resume.
 */
export async function pauseSends(): Promise<void> {
  await condition(() => false);
}
