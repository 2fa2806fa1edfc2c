import { baseQueue, type Pause, PAUSE_TYPE, pauseId } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { WorkflowNotFoundError } from "@temporalio/client";
import { ANSWERED_WITHIN_MS } from "./run-state.ts";

/** Read whether sends are paused now; undefined where they are not. */
export type ReadPause = () => Promise<Pause | undefined>;

/** An answer of the Temporal server is used for this long: the latest that a pause takes hold. */
const HOLDS_FOR_MS = 500;

const text = (value: unknown): string => (typeof value === "string" ? value : "unknown");

const describePause = async (): Promise<Pause | undefined> => {
  const { client, info } = Context.current();
  try {
    const workflow = await client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      client.workflow.getHandle(pauseId(baseQueue(info.taskQueue))).describe(),
    );
    // Whatever else has its id pauses nothing.
    return workflow.status.name === "RUNNING" && workflow.type === PAUSE_TYPE
      ? {
          why: text(workflow.memo?.["why"]),
          by: text(workflow.memo?.["by"]),
          since: workflow.startTime.toISOString(),
        }
      : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

/**
 * Read the pause of the worker's base queue. It is a workflow, so that it survives the restart of
 * workers and server; when the server does not answer, the send fails instead of going out.
 *
 * @returns a reader that asks the server once in half a second at most.
 */
export const makeTemporalPauseReader = (): ReadPause => {
  let latest: { readonly pause: Pause | undefined; readonly until: number } | undefined;
  return async () => {
    // By the monotonic clock: with one that is set back an answer would hold for ever.
    const asked = performance.now();
    if (latest !== undefined && asked < latest.until) return latest.pause;
    const pause = await describePause();
    // The server may have answered as soon as it was asked.
    latest = { pause, until: asked + HOLDS_FOR_MS };
    return pause;
  };
};
