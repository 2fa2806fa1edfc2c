import { createInterface } from "node:readline/promises";

/** Returns whether somebody can be asked: a person at a terminal. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/**
 * Asks for a line, on standard error.
 *
 * @returns undefined where the person ends the input without an answer.
 */
export const ask = async (question: string): Promise<string | undefined> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const endLine = () => process.stderr.write("\n");
  // While it asks, the terminal hands on Ctrl-C as a key.
  terminal.on("SIGINT", () => {
    endLine();
    process.kill(process.pid, "SIGINT");
  });
  try {
    return (await terminal.question(`${question} `)).trim();
  } catch {
    // Ctrl-D: closed without an answer.
    endLine();
    return undefined;
  } finally {
    terminal.close();
  }
};

/** Asks for a yes. */
export const confirm = async (question: string): Promise<boolean> =>
  /^y(es)?$/i.test((await ask(`${question} [y/N]`)) ?? "");
