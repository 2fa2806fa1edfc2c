import { setTimeout as sleep } from "node:timers/promises";

/** Waits; ends early, without an error, when it is over. */
export const pause = async (milliseconds: number, over: AbortSignal): Promise<void> => {
  await sleep(Math.max(0, milliseconds), undefined, { signal: over }).catch((error: unknown) => {
    if (!over.aborted) throw error;
  });
};
