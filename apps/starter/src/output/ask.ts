import { createInterface } from "node:readline/promises";
import { refused } from "@durable-payments/control/errors";
import type { InboxItem } from "@durable-payments/control/show";
import { badUsage } from "../exit-codes.ts";
import { type Output, visible } from "./output.ts";
import { commandLines, itemText } from "./run-text.ts";

/** Returns whether somebody can be asked: a person at a terminal. */
const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks for a line, on standard error; empty if the person ends the input without an answer. */
const ask = async (question: string): Promise<string> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const endLine = () => process.stderr.write("\n");
  // During a prompt, the terminal reports Ctrl-C as a key.
  terminal.on("SIGINT", () => {
    endLine();
    process.kill(process.pid, "SIGINT");
  });
  try {
    return (await terminal.question(`${question} `)).trim();
  } catch {
    // Ctrl-D: closed without an answer.
    endLine();
    return "";
  } finally {
    terminal.close();
  }
};

/**
 * Asks a person for confirmation.
 *
 * @param nothing message of a refusal: `Nothing was done.`
 * @param show shows what is confirmed; it is called if there is somebody who can be asked.
 * @throws BadUsage if there is nobody to ask; NotAllowed if the answer is not yes.
 */
export const confirm = async (
  question: string,
  nothing: string,
  show: () => Promise<void> | void = () => undefined,
): Promise<void> => {
  if (!canAsk()) throw badUsage(`Confirm with --yes. ${nothing}`);
  await show();
  if (!/^y(es)?$/i.test(await ask(`${question} [y/N]`))) throw refused(nothing);
};

/**
 * Shows at a terminal what a person decides, and asks. A script has to name what it has shown to somebody.
 *
 * @param flag names it: `--hash HASH`.
 * @throws BadUsage if there is nobody to ask; NotAllowed if the answer is not yes.
 */
export const confirmSeen = async (output: Output, item: InboxItem, flag: string): Promise<void> => {
  if (output.json || !canAsk())
    throw badUsage(`Pass ${flag} of what you have read. Nothing was done.`, commandLines(item));
  output.say(itemText(visible(item)));
  await confirm("Record it?", "Nothing was recorded.");
};
