import { performance } from "node:perf_hooks";

/** The cost of something that is done many times. */
export interface Cost {
  /** Of this process, user and system, in µs each time. */
  readonly cpu: number;
  readonly perSecond: number;
}

/** Does something so many times, so many of them at once. */
export const measure = async (
  { concurrency, count }: { readonly count: number; readonly concurrency: number },
  work: () => Promise<unknown>,
): Promise<Cost> => {
  let left = count;
  const workOff = async () => {
    while (left-- > 0) await work();
  };
  const began = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, workOff));
  const { system, user } = process.cpuUsage(before);
  const seconds = (performance.now() - began) / 1000;
  return { cpu: (system + user) / count, perSecond: count / seconds };
};
