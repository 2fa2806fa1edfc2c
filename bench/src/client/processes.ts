import { performance } from "node:perf_hooks";
import { answerTasks } from "../child.ts";
import { type ContenderName, contenders, type Read } from "./contenders.ts";

/** So many reads, so many of them at once. */
export interface ReadTask {
  readonly read: Read;
  readonly count: number;
  readonly concurrency: number;
}

/** The CPU of this process, user and system, in µs each time, and reads a second. */
export interface Cost {
  readonly cpu: number;
  readonly perSecond: number;
}

const [name, baseUrl = ""] = process.argv.slice(2);
// The bench passes one of the names.
const contender = await contenders[name as ContenderName](baseUrl);

await answerTasks(async ({ concurrency, count, read }: ReadTask): Promise<Cost> => {
  let left = count;
  const workOff = async () => {
    while (left-- > 0) await contender[read]();
  };
  const began = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, workOff));
  const { system, user } = process.cpuUsage(before);
  const seconds = (performance.now() - began) / 1000;
  return { cpu: (system + user) / count, perSecond: count / seconds };
});
