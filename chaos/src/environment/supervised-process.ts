import { describeExit, lastLines, type StartedProcess } from "@durable-payments/tools/processes";
import { delay, until } from "../delay.ts";

/** How a process is started, and when it is ready. */
export interface ProcessDefinition {
  readonly name: string;
  /** Starts it; `start` counts from 1. */
  readonly spawn: (start: number) => StartedProcess;
  readonly ready: (started: StartedProcess) => Promise<unknown>;
}

const RESTART_AFTER_MS = 500;

/** SIGSTOP reaches every thread of a process within this time. */
const STOPS_WITHIN_MS = 500;

/** A process that is started again whenever it ends, as a supervisor in production would. */
export class SupervisedProcess {
  readonly name: string;
  readonly #definition: ProcessDefinition;
  readonly #ended = new AbortController();
  /** Its last lines, each time that it ended although it was ready and nobody had killed it. */
  readonly crashes: Array<string> = [];
  #current: StartedProcess | undefined;
  #isReady: Promise<boolean> = Promise.resolve(false);
  /** How long it stays down after it was killed. */
  #downMs: number | undefined;
  /** While there is one, it is not started again. */
  readonly #holds = new Set<Promise<void>>();
  #starts = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(definition: ProcessDefinition) {
    this.name = definition.name;
    this.#definition = definition;
  }

  /** Starts it for the first time. @throws Error if it does not become ready. */
  async start(): Promise<void> {
    const { ready, started } = this.#spawn();
    await ready;
    this.#running = this.#keepAlive(started);
  }

  /** Ends it by a signal, and has it started again; false if it was not running. */
  async restart(killSignal: NodeJS.Signals, downMs: number): Promise<boolean> {
    if (this.#current === undefined) return false;
    this.#downMs = downMs;
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
    await this.restart("SIGKILL", 0);
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
      await delay(STOPS_WITHIN_MS);
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
      if (this.#downMs === undefined && (await this.#isReady)) {
        this.crashes.push(`ended ${describeExit(exit)}: ${lastLines(started)}`);
      }
      await delay(this.#downMs ?? RESTART_AFTER_MS, this.#ended.signal);
      this.#downMs = undefined;
      while (this.#holds.size > 0) await Promise.all(this.#holds);
      if (this.#ended.signal.aborted) return;
    }
  }
}
