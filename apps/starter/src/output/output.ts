import { visibleJson, visibleText } from "@durable-payments/api-core/values";
import { terminalTextFor } from "./styled.ts";
import { cut } from "./text.ts";
import { visible } from "./visible.ts";

/** Where a command writes: its answer on standard output, all else on standard error. */
export interface Output {
  readonly json: boolean;
  /**
   * The command's answer: one JSON object, or the text for a person. Call it once.
   *
   * @param text is given the data in visible characters, so that it takes them from there alone
   * @param object what a program is given, where that is not the data themselves
   */
  readonly answer: <A extends object>(
    data: A,
    text: (shown: A) => string,
    object?: (data: A) => object,
  ) => void;
  /** A part of an answer on standard output, as it is. @returns false once the reader is slower */
  readonly write: (text: string) => boolean;
  /** Whether the answer has been given, or has been begun. */
  answered: boolean;
  /** A line for a person, on standard error. */
  readonly say: (line: string) => void;
  /** Whether `live` shows anything. */
  readonly isLive: boolean;
  /** Shows a line that is overwritten by the next one, on a terminal only; undefined takes it away. */
  readonly live: (line: string | undefined) => void;
  /** What is to be done when the user interrupts the command. */
  onInterrupt: (() => void) | undefined;
}

const CLEAR_LINE = "\r\u001b[K";

/** The process's own standard output and error. Nothing else writes to them: what is shown is visible. */
export const processOutput = (json: boolean): Output => {
  const isLive = process.stderr.isTTY && process.env["TERM"] !== "dumb";
  const forStdout = terminalTextFor(process.stdout);
  const forStderr = terminalTextFor(process.stderr);
  let shown: string | undefined;
  const clear = () => {
    if (shown !== undefined) process.stderr.write(CLEAR_LINE);
  };
  return {
    json,
    isLive,
    answered: false,
    answer(data, text, object = (itself) => itself) {
      clear();
      shown = undefined;
      this.answered = true;
      this.write(json ? `${visibleJson(object(data))}\n` : `${text(visible(data))}\n`);
    },
    write: (text) => process.stdout.write(forStdout(text)),
    say: (line) => {
      clear();
      process.stderr.write(`${forStderr(line)}\n${shown ?? ""}`);
    },
    live: (line) => {
      if (!isLive) return;
      clear();
      shown =
        line === undefined ? undefined : cut(visibleText(line), (process.stderr.columns || 80) - 1);
      process.stderr.write(shown ?? "");
    },
    onInterrupt: undefined,
  };
};
