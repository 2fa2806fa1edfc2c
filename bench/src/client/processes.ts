import { answerTasks } from "../child.ts";
import { costOf } from "../cost.ts";
import { type ContenderName, contenders, type Read } from "./contenders.ts";

/** So many reads, so many of them at once. */
export interface ReadTask {
  readonly read: Read;
  readonly count: number;
  readonly concurrency: number;
}

const [name, baseUrl = ""] = process.argv.slice(2);
// The bench passes one of the names.
const contender = await contenders[name as ContenderName](baseUrl);

await answerTasks(({ concurrency, count, read }: ReadTask) =>
  costOf(count, concurrency, contender[read]),
);
