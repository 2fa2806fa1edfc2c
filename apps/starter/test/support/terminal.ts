import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";

// Where there is none there is no output either, whatever its type is.
const reported: string | null = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout;

/** Whether a process can be given a terminal: by the `script` of util-linux, as on most Linux. */
export const hasTerminals = reported?.includes("util-linux") ?? false;

/** What a process at a terminal is given. */
export interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Width, default 80. */
  readonly columns?: number;
  /** File that standard output goes to instead. */
  readonly stdout?: string;
}

/** A process at a terminal, and a person at its keyboard. */
export interface Terminal {
  /** Awaits that this text has been shown. */
  readonly seen: (text: string) => Promise<void>;
  readonly type: (keys: string) => void;
  /** Its exit code, and all that the terminal was sent. */
  readonly ended: Promise<{ readonly exitCode: unknown; readonly shown: string }>;
}

/** What a person presses. */
export const KEYS = { enter: "\r", ctrlC: "\u0003", ctrlD: "\u0004" } as const;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Runs a command at a separate terminal. */
export const openTerminal = (
  command: ReadonlyArray<string>,
  { columns = 80, env, stdout }: TerminalOptions,
): Terminal => {
  const size = `stty rows 24 cols ${columns}`;
  const target = stdout === undefined ? "" : ` > ${quoted(stdout)}`;
  const line = `${size} && exec ${command.map(quoted).join(" ")}${target}`;
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    env: { ...env, SHELL: "/bin/sh", TERM: "xterm-256color" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const ended = once(child, "close").then(() => ({ exitCode: child.exitCode, shown }));
  return {
    ended,
    type: (keys) => child.stdin.write(keys),
    seen: async (text) => {
      const isOver = ended.then(() => "over");
      while (!shown.includes(text)) {
        if ((await Promise.race([once(child.stdout, "data"), isOver])) === "over") break;
      }
      if (!shown.includes(text)) throw new Error(`${JSON.stringify(text)} was not shown: ${shown}`);
    },
  };
};

/** The lines that are on the screen in the end: what was overwritten is not. */
export const screenOf = (shown: string): ReadonlyArray<string> =>
  shown
    .split("\r\n")
    .map((line) => stripVTControlCharacters(line.split("\r\u001b[K").at(-1) ?? ""))
    .filter((line) => line !== "");
