/*
 * Starts the processes of a stack, waits until they are ready, and ends them.
 *
 * A process must not outlive the one that started it: it would hold a port or write to a ledger. A process that fails at
 * its start must say why: its last lines are part of the error.
 */
import { isRecord } from "@durable-payments/client/values";
import { execa } from "execa";
import { devNull } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The folder of the checkout. */
export const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** The value of `TEMPORAL_CONFIG_FILE` that keeps the user's own Temporal profiles out of a process. */
export const NO_PROFILES = join(import.meta.dirname, "no-profiles.toml");

/** The commands of the command line ("starter"), or one of its servers. */
export type App = "starter" | "worker" | "simulator";

/**
 * Returns the arguments with which this Node runs the command line, from its source or as it is built. The user's own
 * `.env` in the checkout is not read.
 */
export const appArguments = (
  app: App,
  args: ReadonlyArray<string> = [],
  main: string = join(checkout, "apps/starter/src/main.ts"),
): Array<string> => [
  "--conditions=@durable-payments/source",
  "--",
  main,
  `--env-file=${devNull}`,
  ...(app === "starter" ? [] : [app]),
  ...args,
];

/** A process that this one starts, and that ends no later than this one does. */
export type StartedProcess = ReturnType<typeof spawnProcess>;

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

/** The last ones of a stream: an answer about hundreds of runs is read whole. */
const KEPT_CHARACTERS = 1_000_000;
/** A worker drains within 30 seconds. */
const FORCE_AFTER_MS = 35_000;

/** Starts a process, without waiting for it. */
export const spawnProcess = (
  command: string,
  args: ReadonlyArray<string>,
  { cwd, env, logFile, name = command, ownGroup = false }: ProcessOptions = {},
) => {
  const log = logFile === undefined ? [] : [{ file: logFile, append: true }];
  const child = execa(command, args, {
    buffer: false,
    detached: ownGroup,
    reject: false,
    stdin: "ignore",
    stdout: ["pipe", ...log],
    stderr: ["pipe", ...log],
    forceKillAfterDelay: FORCE_AFTER_MS,
    // Its output goes into a pipe, even if a task runner above assumes a terminal.
    env: { FORCE_COLOR: undefined, ...env },
    ...(cwd !== undefined && { cwd }),
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] = (output[stream] + text).slice(-KEPT_CHARACTERS);
    });
  }
  // Execa leaves a process running that has a group of its own.
  const killLast = () => child.kill("SIGKILL");
  process.once("exit", killLast);
  const exited = child.then(({ exitCode, shortMessage, signal }) => {
    process.off("exit", killLast);
    if (child.pid === undefined) output.stderr += shortMessage ?? "";
    return { code: exitCode, signal };
  });
  return {
    name,
    pid: child.pid ?? 0,
    /** Returns its standard output so far (the last 100,000 characters). */
    stdout: () => output.stdout,
    /** Returns its standard error so far (the last 100,000 characters). */
    stderr: () => output.stderr,
    /** Fulfilled when it has ended, for whatever reason: by its own code, or by a signal. */
    exited,
    /** Sends a signal, and awaits nothing. */
    send: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Sends the signal (SIGTERM by default), 35 seconds after a SIGTERM a SIGKILL, and awaits the end. */
    kill: (signal: NodeJS.Signals = "SIGTERM") => {
      child.kill(signal);
      return exited;
    },
  };
};

const READY_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 50;

/**
 * Looks repeatedly until a process is ready.
 *
 * @param look returns false or undefined as long as it is not
 * @returns what `look` has returned
 * @throws Error with its last lines if the process ends first, or after two minutes; it is killed then
 */
export const untilReady = async <A>(
  started: StartedProcess,
  look: () => Promise<A | false | undefined> | A | false | undefined,
): Promise<A> => {
  const until = performance.now() + READY_WITHIN_MS;
  let over: string | undefined;
  void started.exited.then((exit) => (over ??= `ended ${describeExit(exit)}`));
  for (;;) {
    const failed = over;
    const ready = await look();
    if (ready !== false && ready !== undefined) return ready;
    if (failed !== undefined) {
      const printed = lastLines(started) || "  (none)";
      throw new Error(`${started.name} ${failed}. Its last lines:\n${printed}`);
    }
    if (performance.now() > until) {
      over = `was not ready after ${READY_WITHIN_MS / 1000} s`;
      started.send("SIGKILL");
    }
    await sleep(LOOK_EVERY_MS);
  }
};

/** The first line of JSON on the standard output of a process. */
export type ReadyLine = Readonly<Record<string, unknown>>;

/** {@link untilReady}, with the first whole line of its standard output that is a JSON object. */
export const awaitReadyLine = (started: StartedProcess): Promise<ReadyLine> =>
  untilReady(started, () =>
    started.stdout().split("\n").slice(0, -1).map(parseObject).find(isRecord),
  );

const parseObject = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** "with exit code 1", "by SIGKILL". */
export const describeExit = ({ code, signal }: Awaited<StartedProcess["exited"]>): string =>
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
