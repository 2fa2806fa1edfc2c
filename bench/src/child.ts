import { execaNode, getEachMessage, sendMessage } from "execa";
import { fileURLToPath } from "node:url";
import type { BenchContext } from "./rounds.ts";

/** Hands a child process a task; rejects if the task fails, or the process ends. */
export type Child<Task, Reading> = (task: Task) => Promise<Reading>;

/** Starts a module of `src`, which calls `answerTasks`, in a separate process. It ends with the bench. */
export const startChild = async <Task extends object, Reading>(
  file: string,
  args: ReadonlyArray<string>,
  { defer, signal }: Pick<BenchContext, "defer" | "signal">,
  env: NodeJS.ProcessEnv = {},
): Promise<Child<Task, Reading>> => {
  const child = execaNode(fileURLToPath(new URL(file, import.meta.url)), args, {
    nodeOptions: ["--conditions=@durable-payments/source"],
    env,
    ipc: true,
    buffer: false,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
    reject: false,
    cancelSignal: signal,
    // A worker would first drain; what it was measured for is over.
    killSignal: "SIGKILL",
  });
  defer(async () => {
    child.kill();
    await child;
  });
  // The first message says that it is ready.
  await child.getOneMessage();
  return async (task) => {
    const answered = child.getOneMessage();
    await child.sendMessage(task);
    // The module of a child declares its answer's type.
    return (await answered) as Reading;
  };
};

/**
 * In a child: carries out each task that comes, and answers with its reading; a task that fails ends the process. Only
 * the parent that started the module sends, and it sends the module's own tasks.
 */
export const answerTasks = async (carryOut: (task: never) => Promise<object>): Promise<void> => {
  const tasks = getEachMessage();
  await sendMessage("ready");
  for await (const task of tasks) await sendMessage(await carryOut(task as never));
};
