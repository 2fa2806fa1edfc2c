import { baseQueue, type Pause, pauseId } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { WorkflowNotFoundError } from "@temporalio/client";
import { ANSWERED_WITHIN_MS } from "./run-state.ts";

/** Tells whether sends are paused now. */
export type Brake = () => Promise<Pause | undefined>;

/** An answer of the Temporal server is used for this long: the latest that a pause takes hold. */
const BELIEVED_FOR_MS = 500;

const text = (value: unknown): string => (typeof value === "string" ? value : "unknown");

const describeBrake = async (): Promise<Pause | undefined> => {
  const { client, info } = Context.current();
  try {
    const brake = await client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      client.workflow.getHandle(pauseId(baseQueue(info.taskQueue))).describe(),
    );
    return brake.status.name === "RUNNING"
      ? {
          why: text(brake.memo?.["why"]),
          by: text(brake.memo?.["by"]),
          since: brake.startTime.toISOString(),
        }
      : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

/**
 * The brake of the worker's own base queue. It is a workflow, so that it survives the restart of
 * workers and server; when the server cannot tell, the send fails instead of going out.
 */
export const makeTemporalBrake = (): Brake => {
  let known: { readonly pause: Pause | undefined; readonly until: number } | undefined;
  return async () => {
    // By the monotonic clock: one that is set back would have an answer believed for ever.
    const asked = performance.now();
    if (known !== undefined && asked < known.until) return known.pause;
    const pause = await describeBrake();
    // The server may have said it as soon as it was asked.
    known = { pause, until: asked + BELIEVED_FOR_MS };
    return pause;
  };
};
