import { execa, ExecaError } from "execa";

/**
 * Runs a command of the machine to its end.
 *
 * @returns what it printed, both streams
 * @throws Error with the end of what it printed, or `missing` when there is no such command
 */
export const runTool = async (
  command: string,
  args: readonly string[],
  options: { readonly missing: string; readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> => {
  const { missing, ...rest } = options;
  try {
    const { all } = await execa(command, args, { ...rest, all: true, stdin: "ignore" });
    return all;
  } catch (error) {
    if (!(error instanceof ExecaError)) throw error;
    if (error.code === "ENOENT") throw new Error(missing, { cause: error });
    const printed = typeof error.all === "string" ? error.all : "";
    throw new Error(`${error.shortMessage}\n${indent(lastLines(printed, 5))}`, { cause: error });
  }
};

const lastLines = (text: string, count: number): string =>
  text.trimEnd().split("\n").slice(-count).join("\n");

const indent = (text: string): string => text.replaceAll(/^/gm, "     ");
