import { setTimeout as sleep } from "node:timers/promises";

/** Wait so many milliseconds, or until the signal is aborted, which is no error here. */
export const delay = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await sleep(Math.max(0, milliseconds), undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};
