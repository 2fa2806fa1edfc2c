import {
  awaitReadyLine,
  describeExit,
  lastLines,
  type StartedProcess,
} from "@durable-payments/tools/processes";
import { delay, until } from "../delay.ts";

const RESTART_AFTER_MS = 500;

/** SIGSTOP reaches every thread of a process within this time. */
const STOPS_WITHIN_MS = 500;

/** A process that is started again whenever it ends, as a supervisor in production would. */
export type SupervisedProcess = ReturnType<typeof supervise>;

/**
 * Supervises a process, which is not started yet.
 *
 * @param spawn starts it; `start` counts from 1
 * @param ready awaits that it is ready; by default its first line of JSON
 */
export const supervise = (
  name: string,
  spawn: (start: number) => StartedProcess,
  ready: (started: StartedProcess) => Promise<unknown> = awaitReadyLine,
) => {
  const ended = new AbortController();
  const crashes: Array<string> = [];
  let starts = 0;
  let current: StartedProcess | undefined;
  let isReady = Promise.resolve(false);
  let isKilled = false;
  let down: Promise<unknown> = Promise.resolve();
  let running = Promise.resolve();

  const start = () => {
    const started = spawn((starts += 1));
    const whenReady = ready(started);
    current = started;
    isReady = whenReady.then(
      () => true,
      () => false,
    );
    return { started, whenReady };
  };
  const keepAlive = async (first: StartedProcess): Promise<void> => {
    for (let started = first; ; started = start().started) {
      const exit = await started.exited;
      current = undefined;
      if (ended.signal.aborted) return;
      if (!isKilled) {
        if (await isReady) crashes.push(`ended ${describeExit(exit)}: ${lastLines(started)}`);
        await delay(RESTART_AFTER_MS, ended.signal);
      }
      isKilled = false;
      // It may be kept down by several, one after the other.
      for (let awaited; awaited !== down;) await (awaited = down);
      if (ended.signal.aborted) return;
    }
  };
  const stayDown = (work: Promise<unknown>) => void (down = Promise.all([down, work]));
  /** Ends it by a signal, and has it started again; false if it was not running. */
  const restart = async (killSignal: NodeJS.Signals, downMs: number): Promise<boolean> => {
    if (current === undefined) return false;
    isKilled = true;
    const killed = current.kill(killSignal);
    stayDown(killed.then(() => delay(downMs, ended.signal)));
    await killed;
    return true;
  };
  return {
    name,
    /** Its last lines, each time that it ended although it was ready and nobody had killed it. */
    crashes,
    restart,
    /** Starts it for the first time. @throws Error if it does not become ready. */
    start: async (): Promise<void> => {
      const { started, whenReady } = start();
      await whenReady;
      running = keepAlive(started);
    },
    /**
     * Kills it, and keeps it down.
     *
     * @returns a function that lets it start again.
     */
    keepDown: async (): Promise<() => void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      stayDown(promise);
      await restart("SIGKILL", 0);
      return resolve;
    },
    /** Stops it by SIGSTOP while something is done; false, with nothing done, if it was not running. */
    freeze: async (whileFrozen: () => Promise<void>): Promise<boolean> => {
      const frozen = current;
      if (frozen === undefined) return false;
      frozen.send("SIGSTOP");
      try {
        await delay(STOPS_WITHIN_MS);
        await whileFrozen();
      } finally {
        frozen.send("SIGCONT");
      }
      return true;
    },
    /** Waits until it is ready, however often it has to be started, or until the signal is aborted. */
    whenReady: (signal: AbortSignal): Promise<void> =>
      until(async () => {
        const awaited = current;
        return (await isReady) && awaited !== undefined && awaited === current;
      }, signal),
    /** Ends it for good. */
    end: async (): Promise<void> => {
      ended.abort();
      await current?.kill("SIGKILL");
      await running;
    },
  };
};
