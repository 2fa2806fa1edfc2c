import { describeExit, lastLines, type StartedProcess } from "@durable-payments/tools/processes";
import { pause } from "../delay.ts";

/** How a process is started, and when it is ready. */
export interface Supervision {
  readonly name: string;
  /** Starts it; `start` counts from 1. */
  readonly spawn: (start: number) => StartedProcess;
  readonly ready: (started: StartedProcess) => Promise<unknown>;
}

/** How it is away. */
export interface PlannedRestart {
  readonly downMs: number;
  /** What is done then, before it is started again. */
  readonly whileDown?: () => Promise<void>;
}

const RESTART_AFTER_MS = 500;

/** A process that is started again whenever it ends, as a supervisor in production would. */
export class Supervised {
  readonly #supervision: Supervision;
  readonly #over = new AbortController();
  readonly #crashes: string[] = [];
  #current: StartedProcess | undefined;
  #isReady: Promise<unknown> = Promise.resolve();
  #planned: PlannedRestart | undefined;
  #starts = 0;
  #life: Promise<void> = Promise.resolve();

  constructor(supervision: Supervision) {
    this.#supervision = supervision;
  }

  /** What it said when it ended although it was ready and nobody had killed it. */
  get crashes(): readonly string[] {
    return this.#crashes;
  }

  /**
   * Starts it for the first time.
   *
   * @throws ProcessNotReady when it does not come up
   */
  async start(): Promise<void> {
    const first = this.#spawn();
    await this.#isReady;
    this.#life = this.#keepAlive(first);
  }

  /** Ends it by a signal, and has it started again; false when it was not there. */
  async restart(signal: NodeJS.Signals, planned: PlannedRestart): Promise<boolean> {
    if (this.#current === undefined) return false;
    this.#planned = planned;
    await this.#current.kill(signal);
    return true;
  }

  /** Lets it stand still while something is done; false, with nothing done, when it was not there. */
  async freeze(meanwhile: () => Promise<void>): Promise<boolean> {
    const current = this.#current;
    if (current === undefined) return false;
    current.send("SIGSTOP");
    try {
      await meanwhile();
    } finally {
      current.send("SIGCONT");
    }
    return true;
  }

  /** Fulfilled when it is ready, however often it has to be started, or when it is over. */
  async whenReady(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const current = this.#current;
      const isUp = await this.#isReady.then(
        () => true,
        () => false,
      );
      if (isUp && current !== undefined && current === this.#current) return;
      await pause(100, over);
    }
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#over.abort();
    await this.#current?.kill("SIGKILL");
    await this.#life;
  }

  #spawn(): StartedProcess {
    this.#starts += 1;
    const started = this.#supervision.spawn(this.#starts);
    this.#current = started;
    this.#isReady = this.#supervision.ready(started);
    this.#isReady.catch(() => {});
    return started;
  }

  async #keepAlive(first: StartedProcess): Promise<void> {
    for (let started = first; ; started = this.#spawn()) {
      const exit = await started.exited;
      this.#current = undefined;
      if (this.#over.signal.aborted) return;
      const wasReady = await this.#isReady.then(
        () => true,
        () => false,
      );
      if (this.#planned === undefined && wasReady) {
        this.#crashes.push(
          `${this.#supervision.name} ended ${describeExit(exit)}:\n${lastLines(started)}`,
        );
      }
      const { downMs, whileDown } = this.#planned ?? { downMs: RESTART_AFTER_MS };
      this.#planned = undefined;
      await pause(downMs, this.#over.signal);
      await whileDown?.();
      if (this.#over.signal.aborted) return;
    }
  }
}
