import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from "@temporalio/client";
import { checkName, checkOptions, checkReason } from "../acting.ts";
import { refused } from "../errors.ts";
import {
  type Pause,
  PAUSE_DETAILS,
  PAUSE_TYPE,
  pauseId,
  textAt,
  utc,
} from "@durable-payments/protocol";
import { changing } from "../connection/changing.ts";
import type { Temporal } from "../connection/temporal.ts";
import { countPollers } from "../connection/workers.ts";

/**
 * Word a pause, for a person.
 *
 * @param pause what `findPause` or `pauseSends` returns.
 * @returns who paused the sends, since when, and why.
 */
export const describePause = ({ by, since, why }: Pause): string =>
  `paused by ${by} since ${utc(since)}: ${why}`;

/** The pause of the task queue, and its run. */
const findPausing = async ({
  client,
  settings,
}: Temporal): Promise<{ readonly pause: Pause; readonly runId: string } | undefined> => {
  try {
    const paused = await client.workflow.getHandle(pauseId(settings.taskQueue)).describe();
    // Anybody may start something else under its id, which pauses nothing.
    if (paused.status.name !== "RUNNING" || paused.type !== PAUSE_TYPE) return undefined;
    const [why = "unknown", by = "unknown"] = ["why", "by"].map((at) => textAt(paused.memo, at));
    const pause = { why, by, since: paused.startTime.toISOString() };
    return { pause, runId: paused.runId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

/**
 * Read why the sends of the task queue are paused.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns the pause; undefined where they are not paused.
 */
export const findPause = async (temporal: Temporal): Promise<Pause | undefined> =>
  (await findPausing(temporal))?.pause;

/** What `pauseSends` has paused. */
export interface PausedSends {
  readonly pause: Pause;
  readonly wasPaused: boolean;
  readonly taskQueue: string;
  readonly namespace: string;
  /** Set where no worker polls the task queue. */
  readonly noWorker?: true;
}

const about = (done: string) =>
  ({ mayBe: `Sends may have been ${done}`, next: { operation: "doctor" } }) as const;

/**
 * Pause every new send of every run on the task queue. It takes no worker: while a workflow of the
 * pause's id runs, the activities send nothing. What was sent goes on.
 *
 * @param temporal the connection of `withTemporal`.
 * @param options who pauses, and why.
 * @returns the pause, whether it was there before, and which sends it holds back: those of the runs of one task
 *   queue and namespace. `noWorker` where nobody polls that queue: a pause of a queue that has another name than
 *   the one of the workers holds back nothing.
 * @throws InvalidInput where name or reason are empty; Refused where something else has the pause's id.
 * @example
 * await pauseSends(temporal, { by: "Ada", why: "the bank reports duplicates" });
 */
export const pauseSends = async (
  temporal: Temporal,
  options: Pick<Pause, "by" | "why">,
): Promise<PausedSends> => {
  const { by, why } = checkOptions(options);
  checkName(by);
  checkReason(why, "why");
  const { client, settings } = temporal;
  let wasPaused = false;
  try {
    await changing(temporal, about("paused"), () =>
      client.workflow.start(PAUSE_TYPE, {
        workflowId: pauseId(settings.taskQueue),
        taskQueue: settings.taskQueue,
        memo: { by, why },
        staticSummary: `Sends are paused by ${by}: ${why}`,
        staticDetails: PAUSE_DETAILS,
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    wasPaused = true;
  }
  const pause = await findPause(temporal);
  if (pause === undefined && wasPaused) {
    throw refused(
      `Sends are not paused: ${pauseId(settings.taskQueue)}, by which they are, is the id of something else, or was resumed at this moment. See what it is, terminate it where it is no pause, and pause again.`,
      { operation: "describe", workflowId: pauseId(settings.taskQueue) },
    );
  }
  // It is paused all the same where that cannot be found out.
  const workers = await countPollers(temporal, "workflow").catch(() => undefined);
  const { namespace, taskQueue } = settings;
  return {
    pause: pause ?? { by, why, since: new Date().toISOString() },
    wasPaused,
    taskQueue,
    namespace,
    ...(workers === 0 && { noWorker: true }),
  };
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
  const found = await findPausing(temporal);
  if (found === undefined) return undefined;
  const handle = client.workflow.getHandle(pauseId(settings.taskQueue), found.runId);
  try {
    await changing(temporal, about("resumed"), () => handle.terminate(`resumed by ${by}`));
  } catch (error) {
    // Somebody else has resumed it meanwhile.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  return found.pause;
};
