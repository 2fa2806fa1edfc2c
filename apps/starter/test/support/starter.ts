import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { testedAppArguments } from "@durable-payments/tools/testing";
import { afterAll } from "vitest";
import { type Called, makeStarterPool, type Watched } from "./starter-pool.ts";
import { openTerminal, type Terminal, type TerminalOptions } from "./terminal.ts";

const commandOf = (args: ReadonlyArray<string>) =>
  [process.execPath, ...testedAppArguments("starter", args)] as const;

/** The environment of the tests without what would lead to somebody's servers or change the output. */
const cleanEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(TEMPORAL|PAYMENTS|STARTER|npm)_|^(NO|FORCE)_COLOR$/.test(name),
    ),
  );

/** A call of the starter. */
export interface Call extends Watched {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Files and environment of one test file, and the starter run with them. */
export const makeStarter = async () => {
  const folder = await mkdtemp(join(tmpdir(), "starter-test-"));
  afterAll(() => rm(folder, { recursive: true }));
  const configFile = join(folder, "temporal.toml");
  await writeFile(configFile, "[profile.default]\n");
  let environment: Readonly<Record<string, string>> = { TEMPORAL_CONFIG_FILE: configFile };

  const ownEnvironment = cleanEnvironment();
  const environmentOf = ({ env = {} }: Call) => ({ ...ownEnvironment, ...environment, ...env });

  const inPool = makeStarterPool(ownEnvironment);
  const starter = (args: ReadonlyArray<string>, call: Call = {}): Promise<Called> =>
    inPool({ args, env: environmentOf(call), stdin: call.stdin ?? "" }, call);

  const starterProcess = async (args: ReadonlyArray<string>, call: Call = {}): Promise<Called> => {
    const [node, ...words] = commandOf(args);
    const child = spawn(node, words, { env: environmentOf(call) });
    child.stdin.end(call.stdin ?? "");
    const exited = once(child, "close");
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await exited;
    return { stdout, stderr, exitCode: child.exitCode };
  };

  /** A call at a terminal, with nothing in its environment that names another one. */
  const terminal = (
    args: ReadonlyArray<string>,
    { env = {}, ...options }: Partial<TerminalOptions> = {},
  ): Terminal =>
    openTerminal(commandOf(args), {
      ...options,
      env: { PATH: process.env["PATH"] ?? "", ...environment, ...env },
    });

  return {
    /** Calls the starter in a process that is kept for further calls. */
    starter,
    /** Calls the starter as a separate process, for tests of what a process does. */
    starterProcess,
    terminal,
    /** Adds to the environment of all further calls. */
    use: (more: Readonly<Record<string, string>>) => {
      environment = { ...environment, ...more };
      return environment;
    },
    /** Writes a JSON file, and returns its name. */
    file: async (name: string, value: unknown): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, typeof value === "string" ? value : JSON.stringify(value));
      return path;
    },
  };
};

export type { Called } from "./starter-pool.ts";

/** The one JSON object on standard output. */
export const jsonOf = ({ stdout }: Called): Record<string, unknown> => {
  const lines = stdout.split("\n");
  if (lines.length !== 2 || lines[1] !== "") throw new Error(`not one line: ${stdout}`);
  // Only objects are printed; a test reads its fields.
  return JSON.parse(lines[0] ?? "") as Record<string, unknown>;
};
