import { type Pause, PAUSE_TYPE, pauseId, textAt } from "@durable-payments/protocol";
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from "@temporalio/client";
import { checkName, checkReason } from "../acting.ts";
import { utc } from "../utc.ts";
import type { Temporal } from "../connection/temporal.ts";

/**
 * Word a pause, for a person.
 *
 * @param pause what `findPause` or `pauseSends` returns.
 * @returns who paused the sends, since when, and why.
 */
export const describePause = ({ by, since, why }: Pause): string =>
  `paused by ${by} since ${utc(since)}: ${why}`;

/**
 * Read why the sends of the task queue are paused.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns the pause; undefined where they are not paused.
 */
export const findPause = async ({ client, settings }: Temporal): Promise<Pause | undefined> => {
  try {
    const paused = await client.workflow.getHandle(pauseId(settings.taskQueue)).describe();
    if (paused.status.name !== "RUNNING") return undefined;
    const [why = "unknown", by = "unknown"] = ["why", "by"].map((at) => textAt(paused.memo, at));
    return { why, by, since: paused.startTime.toISOString() };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

/**
 * Pause every new send of every run on the task queue. It takes no worker: while a workflow of the
 * pause's id runs, the activities send nothing. What was sent goes on.
 *
 * @param temporal the connection of `withTemporal`.
 * @param options who pauses, and why.
 * @returns the pause, and whether it was there before.
 * @throws InvalidInput where name or reason are empty.
 * @example
 * await pauseSends(temporal, { by: "Ada", why: "the bank reports duplicates" });
 */
export const pauseSends = async (
  temporal: Temporal,
  { by, why }: Pick<Pause, "by" | "why">,
): Promise<{ readonly pause: Pause; readonly wasPaused: boolean }> => {
  checkName(by);
  checkReason(why, "why");
  const { client, settings } = temporal;
  let wasPaused = false;
  try {
    await client.workflow.start(PAUSE_TYPE, {
      workflowId: pauseId(settings.taskQueue),
      taskQueue: settings.taskQueue,
      memo: { by, why },
      staticSummary: `Sends are paused by ${by}: ${why}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    wasPaused = true;
  }
  const pause = await findPause(temporal);
  return { pause: pause ?? { by, why, since: new Date().toISOString() }, wasPaused };
};

/**
 * Resume sends: end the pause.
 *
 * @param temporal the connection of `withTemporal`.
 * @param by who resumes.
 * @returns the pause that was ended, or undefined where there was none.
 * @throws InvalidInput where the name is empty.
 */
export const resumeSends = async (temporal: Temporal, by: string): Promise<Pause | undefined> => {
  checkName(by);
  const { client, settings } = temporal;
  const pause = await findPause(temporal);
  if (pause !== undefined) {
    await client.workflow.getHandle(pauseId(settings.taskQueue)).terminate(`resumed by ${by}`);
  }
  return pause;
};
