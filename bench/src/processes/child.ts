import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What a child answers to a task, first of all that it takes them; see `answerTasks`. */
export type Answer<Reading> = { readonly reading: Reading } | { readonly problem: string };

/** A process beside this one that carries out one task after the other. */
export interface Child<Task, Reading> {
  /** Hands it a task; rejects when the task fails, or the process ends. */
  readonly run: (task: Task) => Promise<Reading>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a module of the bench, which calls `answerTasks`, in a separate process.
 *
 * @param env added to the environment of this process
 */
export const startChild = async <Task extends object, Reading>(
  module: URL,
  args: ReadonlyArray<string> = [],
  { env = {} }: { readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Child<Task, Reading>> => {
  const child = fork(fileURLToPath(module), [...args], {
    execArgv: ["--conditions=@durable-payments/source"],
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit").then(([code, signal]: Array<unknown>) => {
    throw new Error(`${module.pathname} ended with ${String(code ?? signal)}`);
  });
  ended.catch(() => {});
  await Promise.race([once(child, "message"), ended]);
  return {
    run: async (task) => {
      // What the module of a child answers is its own declared reading.
      const answered = once(child, "message") as Promise<[Answer<Reading>]>;
      child.send(task);
      const [answer] = await Promise.race([answered, ended]);
      if ("problem" in answer) throw new Error(answer.problem);
      return answer.reading;
    },
    stop: async () => {
      // A worker would first drain; what it was measured for is over.
      child.kill("SIGKILL");
      await ended.catch(() => {});
    },
  };
};
