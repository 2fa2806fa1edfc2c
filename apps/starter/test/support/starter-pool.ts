import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

const server = fileURLToPath(new URL("./starter-server.ts", import.meta.url));

/** What ends the output of a command, before its exit code. */
export const END = "\u0000exit code ";

/** What a command is run with. */
export interface CommandLine {
  readonly args: ReadonlyArray<string>;
  /** Its whole environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: string;
}

/** What is done while it runs. */
export interface Watched {
  /** Interrupts it when its standard error has this. */
  readonly interruptAt?: string | undefined;
  /** Called with all that it has written to its standard error so far. */
  readonly onStderr?: ((said: string) => void) | undefined;
}

/** What became of it. */
export interface Called {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Reads what one command writes; without an exit code where the process ended before. */
const untilEnd = (stream: Readable, onText: (said: string) => void) =>
  new Promise<{ readonly text: string; readonly exitCode?: number }>((resolve) => {
    let said = "";
    const stop = () => stream.off("data", read).off("close", closed);
    const read = (text: string) => {
      said += text;
      const end = said.indexOf(END);
      if (end === -1 || !said.endsWith("\n")) return onText(said);
      stop();
      resolve({ text: said.slice(0, end), exitCode: Number(said.slice(end + END.length)) });
    };
    const closed = () => {
      stop();
      resolve({ text: said });
    };
    stream.on("data", read).on("close", closed);
  });

/**
 * Processes of the starter that each run one command line after the other, for the tests of one file:
 * most of a call's time goes into loading. As many are started as there are calls at a time.
 *
 * @param startEnv their environment until the first call
 */
export const makeStarterPool = (startEnv: NodeJS.ProcessEnv) => {
  const idle: Array<ChildProcess> = [];
  const all: Array<ChildProcess> = [];
  afterAll(() => {
    for (const child of all) child.kill("SIGKILL");
  });
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, ["--conditions=@durable-payments/source", server], {
      env: startEnv,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    child.stdout?.setEncoding("utf8");
    child.stderr?.setEncoding("utf8");
    all.push(child);
    return child;
  };
  return async (line: CommandLine, { interruptAt, onStderr }: Watched = {}): Promise<Called> => {
    const child = idle.pop() ?? start();
    const { stderr, stdout } = child;
    if (stdout === null || stderr === null) throw new Error("its output goes into pipes");
    let wasInterrupted = false;
    const ended = Promise.all([
      untilEnd(stdout, () => undefined),
      untilEnd(stderr, (said) => {
        onStderr?.(said);
        if (wasInterrupted || interruptAt === undefined || !said.includes(interruptAt)) return;
        wasInterrupted = true;
        child.kill("SIGINT");
      }),
    ]);
    child.send(line);
    const [out, err] = await ended;
    if (err.exitCode !== undefined) idle.push(child);
    return {
      stdout: out.text,
      stderr: err.text,
      exitCode: err.exitCode ?? child.exitCode,
    };
  };
};
