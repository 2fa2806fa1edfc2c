import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { execa } from "execa";

const keptCharacters = 100_000;
const forceAfterMs = 10_000;

/** How a process ended: by its own code, or by a signal. */
export interface Exit {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
}

/** A process that runs beside this one, and ends no later than this one does. */
export interface StartedProcess {
  readonly name: string;
  readonly pid: number;
  /** What it has printed so far (the last 100,000 characters). */
  readonly stdout: () => string;
  /** What it has printed on standard error so far (the last 100,000 characters). */
  readonly stderr: () => string;
  readonly onStdout: (listener: (text: string) => void) => void;
  readonly onStderr: (listener: (text: string) => void) => void;
  /** Sends the signal (SIGTERM by default), 10 seconds later a SIGKILL, and awaits the end. */
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
  /** By whom it runs; the user of this process by default. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** A file that receives all that it prints. */
  readonly logFile?: string;
  /** Out of reach of the terminal's Ctrl-C, so that its parent can end its processes in order. */
  readonly ownGroup?: boolean;
}

/** Start a process, without waiting for it. */
export const spawnProcess = (
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): StartedProcess => {
  const ownGroup = options.ownGroup === true && process.platform !== "win32";
  const child = execa(command, args, {
    buffer: false,
    detached: ownGroup,
    reject: false,
    stdin: "ignore",
    // What it prints goes into a pipe, whatever a task runner above assumes of the terminal.
    env: { FORCE_COLOR: undefined, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...options.user,
  });
  const stdout = keepLast(child.stdout);
  const stderr = keepLast(child.stderr);
  const log =
    options.logFile === undefined ? undefined : createWriteStream(options.logFile, { mode: 0o600 });
  if (log !== undefined) {
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
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
    name: options.name ?? command,
    pid: child.pid ?? 0,
    stdout: stdout.text,
    stderr: stderr.text,
    onStdout: (listener) => void child.stdout.on("data", listener),
    onStderr: (listener) => void child.stderr.on("data", listener),
    exited,
    send,
    kill: async (signal = "SIGTERM") => {
      send(signal);
      const force = setTimeout(sendLast, forceAfterMs);
      return await exited.finally(() => clearTimeout(force));
    },
  };
};

const keepLast = (stream: Readable) => {
  let text = "";
  const add = (more: string) => {
    text = (text + more).slice(-keptCharacters);
  };
  stream.setEncoding("utf8");
  stream.on("data", add);
  return { add, text: () => text };
};
