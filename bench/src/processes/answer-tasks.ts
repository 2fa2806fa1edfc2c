import { inspect } from "node:util";
import type { Answer } from "./child.ts";

/**
 * In a child: carries out each task that comes, and answers with its reading. Only the parent that
 * started the module sends, and it sends the module's own tasks.
 */
export const answerTasks = (carryOut: (task: never) => Promise<unknown>): void => {
  const answer = async (task: unknown): Promise<Answer<unknown>> => {
    try {
      return { reading: await carryOut(task as never) };
    } catch (error) {
      // With its causes: of a workflow that failed only they say why.
      return { problem: inspect(error) };
    }
  };
  process.on("message", (task) => void answer(task).then((answered) => process.send?.(answered)));
  process.on("disconnect", () => process.exit());
  const ready: Answer<unknown> = { reading: undefined };
  process.send?.(ready);
};
