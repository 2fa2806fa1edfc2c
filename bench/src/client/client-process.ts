import { performance } from "node:perf_hooks";
import { answerTasks } from "../child.ts";
import { type ContenderName, contenders, type Read } from "./contenders.ts";

/** So many reads, so many of them at once. */
export interface ReadTask {
  readonly read: Read;
  readonly requests: number;
  readonly concurrency: number;
}

/** The cost of the reads of a task. */
export interface ReadReading {
  /** Of this process, user and system, in µs per request. */
  readonly cpu: number;
  readonly perSecond: number;
}

const [name, baseUrl = ""] = process.argv.slice(2);
// The scenario passes one of the names.
const contender = await contenders[name as ContenderName](baseUrl);

answerTasks(async ({ concurrency, read, requests }: ReadTask): Promise<ReadReading> => {
  let left = requests;
  const reader = async () => {
    while (left-- > 0) await contender[read]();
  };
  const began = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, reader));
  const { system, user } = process.cpuUsage(before);
  const seconds = (performance.now() - began) / 1000;
  return { cpu: (system + user) / requests, perSecond: requests / seconds };
});
