import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Where a command writes: its answer on standard output, all else on standard error. */
export interface Output {
  readonly json: boolean;
  /** The command's answer: one JSON object, or the text for a person. Call it once. */
  readonly answer: (value: object, text: () => string) => void;
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

/** Colours a text for standard output or error; none where it is no terminal or NO_COLOR is set. */
export const styled = (style: Style, text: string, stream: NodeJS.WriteStream = process.stdout) =>
  styleText(style, text, { stream });

const CLEAR_LINE = "\r\u001b[K";

/** The process's own standard output and error. */
export const processOutput = (json: boolean): Output => {
  const isLive = process.stderr.isTTY && process.env["TERM"] !== "dumb";
  let shown: string | undefined;
  const clear = () => {
    if (shown !== undefined) process.stderr.write(CLEAR_LINE);
  };
  return {
    json,
    isLive,
    answered: false,
    answer(value, text) {
      clear();
      shown = undefined;
      this.answered = true;
      process.stdout.write(`${json ? JSON.stringify(value) : text()}\n`);
    },
    say: (line) => {
      clear();
      process.stderr.write(`${line}\n${shown ?? ""}`);
    },
    live: (line) => {
      if (!isLive) return;
      clear();
      shown = line?.slice(0, (process.stderr.columns || 80) - 1);
      process.stderr.write(shown ?? "");
    },
    onInterrupt: undefined,
  };
};
