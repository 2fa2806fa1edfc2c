import { answerTasks } from "../child.ts";
import { measure } from "../measure.ts";
import { type ContenderName, contenders, type Read } from "./contenders.ts";

/** So many reads, so many of them at once. */
export interface ReadTask {
  readonly read: Read;
  readonly count: number;
  readonly concurrency: number;
}

const [name, baseUrl = ""] = process.argv.slice(2);
// The scenario passes one of the names.
const contender = await contenders[name as ContenderName](baseUrl);

answerTasks((task: ReadTask) => measure(task, contender[task.read]));
