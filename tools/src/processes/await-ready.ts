import { isRecord } from "@durable-payments/api-core/values";
import type { Exit, StartedProcess } from "./spawn-process.ts";

const shownLines = 15;

/** The first line of JSON on the standard output of a process. */
export type ReadyLine = Readonly<Record<string, unknown>>;

/** A process ended, or timed out, before it was ready; the message holds its last lines. */
class ProcessNotReady extends Error {
  override readonly name = "ProcessNotReady";
}

/**
 * Await the first line on the standard output that is a JSON object.
 *
 * @throws ProcessNotReady when the process ends before, or after `withinMs`; it is killed then
 */
export const awaitReadyLine = async (
  started: StartedProcess,
  withinMs: number,
): Promise<ReadyLine> => {
  const { promise, resolve } = Promise.withResolvers<ReadyLine>();
  let unread = "";
  started.onStdout((text) => {
    const lines = (unread + text).split("\n");
    unread = lines.pop() ?? "";
    const ready = lines.map(parseObject).find((line) => line !== undefined);
    if (ready !== undefined) resolve(ready);
  });
  return await orEnd(started, promise, withinMs);
};

/** Await `ready`, unless the process ends first or the time is up. */
export const orEnd = async <A>(
  started: StartedProcess,
  ready: Promise<A>,
  withinMs: number,
): Promise<A> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      void started.kill("SIGKILL");
      reject(new ProcessNotReady(notReady(started, `was not ready after ${withinMs / 1000} s`)));
    }, withinMs);
  });
  const ended = started.exited.then((exit) => {
    throw new ProcessNotReady(notReady(started, `ended ${describeExit(exit)}`));
  });
  try {
    return await Promise.race([ready, ended, late]);
  } finally {
    clearTimeout(timer);
    ended.catch(() => {});
  }
};

/** "with exit code 1", "by SIGKILL". */
export const describeExit = ({ code, signal }: Exit): string =>
  signal === undefined ? `with exit code ${code ?? "unknown"}` : `by ${signal}`;

/** The last lines of what the process printed, for an error text. */
export const lastLines = (started: StartedProcess): string =>
  `${started.stdout()}\n${started.stderr()}`
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-shownLines)
    .map((line) => `  ${line}`)
    .join("\n");

const notReady = (started: StartedProcess, what: string) =>
  `${started.name} ${what}. Its last lines:\n${lastLines(started) || "  (none)"}`;

const parseObject = (line: string): ReadyLine | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
