import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import type { ScenarioContext } from "./scenario.ts";

/** The answer of a child to a task; the first one says that it is ready. See `answerTasks`. */
type Answer<Reading> = { readonly reading: Reading } | { readonly problem: string };

/** A child process that carries out one task after the other. */
export interface Child<Task, Reading> {
  /** Hands it a task; rejects when the task fails, or the process ends. */
  readonly run: (task: Task) => Promise<Reading>;
  readonly stop: () => Promise<void>;
}

/** Starts a module of `src`, which calls `answerTasks`, in a separate process. It ends with the scenario. */
export const startChild = async <Task extends object, Reading>(
  file: string,
  args: ReadonlyArray<string>,
  { defer, signal }: Pick<ScenarioContext, "defer" | "signal">,
  env: NodeJS.ProcessEnv = {},
): Promise<Child<Task, Reading>> => {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [...args], {
    execArgv: ["--conditions=@durable-payments/source"],
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    signal,
    killSignal: "SIGKILL",
  });
  // An abort is its "error", which rejects this at once.
  const ended = once(child, "exit").then(([code, by]: Array<unknown>) => {
    throw new Error(`${file} ended with ${String(code ?? by)}`);
  });
  const stop = async () => {
    // A worker would first drain; what it was measured for is over.
    child.kill("SIGKILL");
    await ended.catch(() => {});
  };
  defer(stop);
  await Promise.race([once(child, "message"), ended]);
  return {
    run: async (task) => {
      // The module of a child declares its answer's type.
      const answered = once(child, "message") as Promise<[Answer<Reading>]>;
      child.send(task);
      const [answer] = await Promise.race([answered, ended]);
      if ("problem" in answer) throw new Error(answer.problem);
      return answer.reading;
    },
    stop,
  };
};

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
