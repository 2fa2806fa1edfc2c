import { type Pause, PAUSE_TYPE, pauseId } from "@durable-payments/protocol";
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { time } from "../output/text.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "unknown");

/** Why the sends of the task queue are paused, or undefined when they are not. */
export const findPause = async ({ client, settings }: Temporal): Promise<Pause | undefined> => {
  try {
    const brake = await client.workflow.getHandle(pauseId(settings.taskQueue)).describe();
    if (brake.status.name !== "RUNNING") return undefined;
    const { by, why } = brake.memo ?? {};
    return { why: text(why), by: text(by), since: brake.startTime.toISOString() };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

/** A pause, as a person reads it. */
export const pauseText = ({ by, since, why }: Pause): string =>
  `paused by ${by} since ${time(since)}: ${why}`;

/**
 * Pauses every new send of every run on the task queue. It takes no worker: while a workflow of the
 * brake's id runs, the activities send nothing.
 *
 * @returns the pause, and whether it was there before.
 */
export const pauseSends = async (
  temporal: Temporal,
  { by, why }: Pick<Pause, "by" | "why">,
): Promise<{ readonly pause: Pause; readonly wasPaused: boolean }> => {
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
 * Ends the pause.
 *
 * @returns the pause that was ended, or undefined where there was none.
 */
export const resumeSends = async (temporal: Temporal, by: string): Promise<Pause | undefined> => {
  const { client, settings } = temporal;
  const pause = await findPause(temporal);
  if (pause !== undefined) {
    await client.workflow.getHandle(pauseId(settings.taskQueue)).terminate(`resumed by ${by}`);
  }
  return pause;
};
