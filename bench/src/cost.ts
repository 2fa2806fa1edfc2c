/** The CPU of this process, user and system, in µs each time, and how often a second. */
export interface Cost {
  readonly cpu: number;
  readonly perSecond: number;
}

/** Does a work so often, so many of it at once. */
export const costOf = async (
  count: number,
  concurrency: number,
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
