import { createInterface } from "node:readline/promises";
import { terminalTextFor } from "./styled.ts";

/** Whether somebody can be asked: a person at a terminal. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks for a yes, on standard error. */
export const confirm = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const endLine = () => process.stderr.write("\n");
  // While it asks, the terminal hands on Ctrl-C as a key.
  terminal.on("SIGINT", () => {
    endLine();
    process.kill(process.pid, "SIGINT");
  });
  try {
    const answer = await terminal.question(`${terminalTextFor(process.stderr)(question)} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } catch {
    // Ctrl-D: closed without an answer.
    endLine();
    return false;
  } finally {
    terminal.close();
  }
};
