import { globSync, readFileSync } from "node:fs";
import { describeExit, lastLines, type StartedProcess } from "@durable-payments/tools/processes";
import { delay, until } from "../delay.ts";

/** Starts a process whose log is in the folder of the campaign. */
export type Spawn = (
  name: string,
  command: string,
  args: ReadonlyArray<string>,
  env?: NodeJS.ProcessEnv,
) => StartedProcess;

/** How a process is started, and when it is ready. */
export interface ProcessDefinition {
  readonly name: string;
  /** Starts it; `start` counts from 1. */
  readonly spawn: (start: number) => StartedProcess;
  readonly ready: (started: StartedProcess) => Promise<unknown>;
}

/** How long a process stays down, and what is done meanwhile. */
interface PlannedRestart {
  readonly downMs: number;
  /** Done before it is started again. */
  readonly whileDown?: () => Promise<void>;
}

const RESTART_AFTER_MS = 500;

/** How long a process may take to stop, if nothing shows its state. */
const STOPS_WITHIN_MS = 500;

/** Whether SIGSTOP has reached every thread of a process, as Linux shows it; elsewhere it never says so. */
const isStopped = ({ pid }: StartedProcess): boolean => {
  const threads = globSync(`/proc/${pid}/task/*/stat`);
  const isThreadStopped = (thread: string): boolean => {
    try {
      const stat = readFileSync(thread, "utf8");
      // The state follows the name, which is in parentheses and can have any character.
      return stat.charAt(stat.lastIndexOf(")") + 2) === "T";
    } catch {
      // It has ended meanwhile.
      return false;
    }
  };
  return threads.length > 0 && threads.every(isThreadStopped);
};

/** A process that is started again whenever it ends, as a supervisor in production would. */
export class SupervisedProcess {
  readonly #definition: ProcessDefinition;
  readonly #ended = new AbortController();
  /** Its last lines, each time that it ended although it was ready and nobody had killed it. */
  readonly crashes: Array<string> = [];
  #current: StartedProcess | undefined;
  #isReady: Promise<boolean> = Promise.resolve(false);
  #planned: PlannedRestart | undefined;
  /** While there is one, it is not started again. */
  readonly #holds = new Set<Promise<void>>();
  #starts = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(definition: ProcessDefinition) {
    this.#definition = definition;
  }

  /** Starts it for the first time. @throws ProcessNotReady if it does not become ready. */
  async start(): Promise<void> {
    const { ready, started } = this.#spawn();
    await ready;
    this.#running = this.#keepAlive(started);
  }

  /** Ends it by a signal, and has it started again; false if it was not running. */
  async restart(killSignal: NodeJS.Signals, planned: PlannedRestart): Promise<boolean> {
    if (this.#current === undefined) return false;
    this.#planned = planned;
    await this.#current.kill(killSignal);
    return true;
  }

  /**
   * Kills it, and keeps it down.
   *
   * @returns a function that lets it start again.
   */
  async keepDown(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#holds.add(promise);
    await this.restart("SIGKILL", { downMs: 0 });
    return () => {
      this.#holds.delete(promise);
      resolve();
    };
  }

  /** Stops it by SIGSTOP while something is done; false, with nothing done, if it was not running. */
  async freeze(whileFrozen: () => Promise<void>): Promise<boolean> {
    const current = this.#current;
    if (current === undefined) return false;
    current.send("SIGSTOP");
    try {
      await until(() => isStopped(current), AbortSignal.timeout(STOPS_WITHIN_MS), 10);
      await whileFrozen();
    } finally {
      current.send("SIGCONT");
    }
    return true;
  }

  /** Waits until it is ready, however often it has to be started, or until the signal is aborted. */
  async whenReady(signal: AbortSignal): Promise<void> {
    await until(async () => {
      const current = this.#current;
      return (await this.#isReady) && current !== undefined && current === this.#current;
    }, signal);
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#current?.kill("SIGKILL");
    await this.#running;
  }

  #spawn(): { readonly started: StartedProcess; readonly ready: Promise<unknown> } {
    this.#starts += 1;
    const started = this.#definition.spawn(this.#starts);
    const ready = this.#definition.ready(started);
    this.#current = started;
    this.#isReady = ready.then(
      () => true,
      () => false,
    );
    return { started, ready };
  }

  async #keepAlive(first: StartedProcess): Promise<void> {
    for (let started = first; ; started = this.#spawn().started) {
      const exit = await started.exited;
      this.#current = undefined;
      if (this.#ended.signal.aborted) return;
      if (this.#planned === undefined && (await this.#isReady)) {
        const { name } = this.#definition;
        this.crashes.push(`${name} ended ${describeExit(exit)}:\n${lastLines(started)}`);
      }
      const { downMs, whileDown } = this.#planned ?? { downMs: RESTART_AFTER_MS };
      this.#planned = undefined;
      await delay(downMs, this.#ended.signal);
      await whileDown?.();
      while (this.#holds.size > 0) await Promise.all(this.#holds);
      if (this.#ended.signal.aborted) return;
    }
  }
}
