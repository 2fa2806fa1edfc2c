import type { App } from "../processes/apps.ts";
import { awaitReadyLine, type ReadyLine } from "../processes/await-ready.ts";
import { spawnProcess, type StartedProcess } from "../processes/spawn-process.ts";
import { testedAppArguments } from "./tested-app.ts";

const readyWithinMs = 60_000;

/** A process that is ready. */
export interface ReadyProcess extends StartedProcess {
  /** The first JSON object on its standard output. */
  readonly ready: ReadyLine;
}

/**
 * Start a process and await the first line of JSON on its standard output. End it by `kill()`.
 *
 * @param env added to the environment of this process
 * @throws ProcessNotReady with its last lines, when it ends or stays silent for 25 seconds
 */
export const startProcess = async (
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ReadyProcess> => {
  const started = spawnProcess(command, args, { env });
  return { ...started, ready: await awaitReadyLine(started, readyWithinMs) };
};

/** {@link startProcess} for an app of this workspace; see {@link testedAppArguments}. */
export const startApp = async (
  app: App,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ReadyProcess> =>
  await startProcess(process.execPath, testedAppArguments(app, args), env);

/** A process that has ended. */
export interface EndedProcess {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Run a process to its end, whatever its exit code. */
export const runProcess = async (
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<EndedProcess> => {
  const started = spawnProcess(command, args, { env });
  const { code } = await started.exited;
  return { exitCode: code, stdout: started.stdout(), stderr: started.stderr() };
};

/** {@link runProcess} for an app of this workspace; see {@link testedAppArguments}. */
export const runApp = async (
  app: App,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<EndedProcess> => await runProcess(process.execPath, testedAppArguments(app, args), env);
