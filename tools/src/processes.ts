import { isRecord } from "@durable-payments/api-core/values";
import { execa } from "execa";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The folder of the checkout. */
export const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** The value of `TEMPORAL_CONFIG_FILE` that keeps the user's own Temporal profiles out of a process. */
export const NO_PROFILES = join(import.meta.dirname, "no-profiles.toml");

/** The apps of the workspace that run from source. */
const MAIN_FILES = {
  simulator: "packages/simulator/src/main.ts",
  starter: "apps/starter/src/main.ts",
  worker: "apps/worker/src/main.ts",
} as const;

export type App = keyof typeof MAIN_FILES;

/** Returns the arguments with which this Node runs an app from source. */
export const appArguments = (app: App, args: ReadonlyArray<string> = []): Array<string> => [
  "--conditions=@durable-payments/source",
  join(checkout, MAIN_FILES[app]),
  ...args,
];

/** How a process ended: by its own code, or by a signal. */
export interface Exit {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
}

/** A process that this one starts, and that ends no later than this one does. */
export interface StartedProcess {
  readonly name: string;
  readonly pid: number;
  /** Returns its standard output so far (the last 100,000 characters). */
  readonly stdout: () => string;
  /** Returns its standard error so far (the last 100,000 characters). */
  readonly stderr: () => string;
  /** Passes on the lines of its standard output from now on. */
  readonly onStdout: (listener: (line: string) => void) => void;
  /** Passes on the lines of its standard error from now on. */
  readonly onStderr: (listener: (line: string) => void) => void;
  /** Sends the signal (SIGTERM by default), 35 seconds later a SIGKILL, and awaits the end. */
  readonly kill: (signal?: NodeJS.Signals) => Promise<Exit>;
  /** Sends a signal, and awaits nothing. */
  readonly send: (signal: NodeJS.Signals) => void;
  /** Fulfilled when it has ended, for whatever reason. */
  readonly exited: Promise<Exit>;
}

/** How a process is started. */
export interface ProcessOptions {
  /** How errors call it; the command by default. */
  readonly name?: string;
  /** Added to the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** A file that receives all that it prints. */
  readonly logFile?: string;
  /** Out of reach of the terminal's Ctrl-C, so that its parent can end its processes in order. */
  readonly ownGroup?: boolean;
}

const KEPT_CHARACTERS = 100_000;
/** A worker drains within 30 seconds. */
const FORCE_AFTER_MS = 35_000;

const keepLast = (stream: Readable) => {
  let text = "";
  const add = (more: string) => {
    text = (text + more).slice(-KEPT_CHARACTERS);
  };
  stream.setEncoding("utf8").on("data", add);
  return { add, text: () => text };
};

/** Starts a process, without waiting for it. */
export const spawnProcess = (
  command: string,
  args: ReadonlyArray<string>,
  { cwd, env, logFile, name = command, ...options }: ProcessOptions = {},
): StartedProcess => {
  const ownGroup = options.ownGroup === true && process.platform !== "win32";
  const child = execa(command, args, {
    buffer: false,
    detached: ownGroup,
    reject: false,
    stdin: "ignore",
    // Otherwise execa sends a SIGKILL 5 seconds after a SIGTERM.
    forceKillAfterDelay: false,
    // Its output goes into a pipe, even if a task runner above assumes a terminal.
    env: { FORCE_COLOR: undefined, ...env },
    ...(cwd !== undefined && { cwd }),
  });
  const stdout = keepLast(child.stdout);
  const stderr = keepLast(child.stderr);
  const log = logFile === undefined ? undefined : createWriteStream(logFile, { mode: 0o600 });
  if (log !== undefined) {
    for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  }
  const send = (signal: NodeJS.Signals) => {
    if (!ownGroup || child.pid === undefined) return void child.kill(signal);
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      // ESRCH: the whole group has ended already.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  const sendLast = () => send("SIGKILL");
  process.once("exit", sendLast);
  const exited = child.then((result): Exit => {
    process.off("exit", sendLast);
    log?.end();
    if (child.pid === undefined) stderr.add(`${result.shortMessage ?? "it did not start"}\n`);
    return { code: result.exitCode, signal: result.signal };
  });
  return {
    name,
    pid: child.pid ?? 0,
    stdout: stdout.text,
    stderr: stderr.text,
    onStdout: (listener) => void createInterface(child.stdout).on("line", listener),
    onStderr: (listener) => void createInterface(child.stderr).on("line", listener),
    exited,
    send,
    kill: (signal = "SIGTERM") => {
      send(signal);
      const force = setTimeout(sendLast, FORCE_AFTER_MS);
      return exited.finally(() => clearTimeout(force));
    },
  };
};

/** The first line of JSON on the standard output of a process. */
export type ReadyLine = Readonly<Record<string, unknown>>;

const READY_WITHIN_MS = 120_000;

/**
 * Awaits the first line on the standard output that is a JSON object.
 *
 * @throws Error with its last lines if the process ends before, or after two minutes; it is killed then
 */
export const awaitReadyLine = (started: StartedProcess): Promise<ReadyLine> => {
  const { promise, resolve } = Promise.withResolvers<ReadyLine>();
  started.onStdout((line) => {
    const ready = parseObject(line);
    if (ready !== undefined) resolve(ready);
  });
  return orEnd(started, promise);
};

const parseObject = (line: string): ReadyLine | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Awaits `ready`, unless the process ends first or the time is up. */
const orEnd = async <A>(started: StartedProcess, ready: Promise<A>): Promise<A> => {
  const over = new AbortController();
  const fail = (what: string): never => {
    const printed = lastLines(started) || "  (none)";
    throw new Error(`${started.name} ${what}. Its last lines:\n${printed}`);
  };
  const ended = started.exited.then((exit) => fail(`ended ${describeExit(exit)}`));
  const late = sleep(READY_WITHIN_MS, undefined, { signal: over.signal }).then(() => {
    void started.kill("SIGKILL");
    return fail(`was not ready after ${READY_WITHIN_MS / 1000} s`);
  });
  return Promise.race([ready, ended, late]).finally(() => over.abort());
};

const ASK_EVERY_MS = 100;

/**
 * Asks a server repeatedly until it is ready.
 *
 * @throws Error with its last lines if the process ends first, or after `withinMs`, two minutes by default
 */
export const untilReady = async (
  started: StartedProcess,
  isReady: () => Promise<boolean>,
): Promise<void> => {
  const over = new AbortController();
  const ask = async () => {
    while (!over.signal.aborted && !(await isReady())) await sleep(ASK_EVERY_MS);
  };
  const asking = ask();
  try {
    await orEnd(started, asking);
  } finally {
    over.abort();
    // A call that is repeated after its connection was closed would end this process.
    await asking;
  }
};

/** "with exit code 1", "by SIGKILL". */
export const describeExit = ({ code, signal }: Exit): string =>
  signal === undefined ? `with exit code ${code ?? "unknown"}` : `by ${signal}`;

const SHOWN_LINES = 15;

/** Returns the last lines that the process printed, for an error text. */
export const lastLines = (started: StartedProcess): string =>
  `${started.stdout()}\n${started.stderr()}`
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-SHOWN_LINES)
    .map((line) => `  ${line}`)
    .join("\n");
