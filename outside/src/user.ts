import { type NodeBinary, strangersEnvironment } from "@durable-payments/tools/packages";
import { spawnProcess, type StartedProcess } from "@durable-payments/tools/processes";
import { execa } from "execa";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Somebody who works in a folder with one Node. */
export interface User {
  /** Run a command of the folder's packages, of Node or npm to its end, and return its standard output. */
  readonly run: (command: string, args: ReadonlyArray<string>) => Promise<string>;
  /** {@link run} for a command that is to fail: returns all that it printed. */
  readonly runToFail: (command: string, args: ReadonlyArray<string>) => Promise<string>;
  /** Read a file of the folder. */
  readonly read: (file: string) => Promise<string>;
  /** Start a command that goes on. */
  readonly start: (command: string, args: ReadonlyArray<string>) => StartedProcess;
}

/**
 * Let somebody work in a folder.
 *
 * @param folder where the packages are installed.
 * @param env variables beside those of this process.
 */
export const userIn = (folder: string, node: NodeBinary, env: NodeJS.ProcessEnv = {}): User => {
  const binaries = [join(folder, "node_modules", ".bin"), node.folder].join(delimiter);
  const options = { cwd: folder, env: { ...strangersEnvironment(binaries), ...env } };
  return {
    run: async (command, args) =>
      (await execa(command, args, { ...options, stdin: "ignore" })).stdout,
    runToFail: async (command, args) => {
      const settled = await execa(command, args, {
        ...options,
        all: true,
        stdin: "ignore",
        reject: false,
      });
      if (!settled.failed) throw new Error(`${settled.command} did not fail`);
      return settled.all;
    },
    read: async (file) => await readFile(join(folder, file), "utf8"),
    start: (command, args) => spawnProcess(command, args, options),
  };
};
