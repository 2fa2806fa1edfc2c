import { createInterface } from "node:readline/promises";

/** Whether somebody can be asked: a person at a terminal. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks for a yes, on standard error. */
export const confirm = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
};
