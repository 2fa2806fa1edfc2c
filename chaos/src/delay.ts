import { setTimeout as sleep } from "node:timers/promises";

/** Waits so many milliseconds, or until the signal is aborted, which is not an error here. */
export const delay = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
  await sleep(Math.max(0, milliseconds), undefined, { signal }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
};

/** Waits until something is true, or the signal is aborted. */
export const until = async (
  isTrue: () => boolean | Promise<boolean>,
  signal?: AbortSignal,
  everyMs = 100,
): Promise<void> => {
  for (;;) {
    if (signal?.aborted === true || (await isTrue())) return;
    await delay(everyMs, signal);
  }
};
