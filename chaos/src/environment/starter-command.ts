import { execFile } from "node:child_process";
import { pause } from "../delay.ts";

/** What a command of the starter came to. */
export interface Told {
  readonly code: number;
  /** What it printed with `--json`; empty where it printed none. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** What it printed, on both outputs. */
  readonly text: string;
}

/** The starter's exit code where Temporal, or a worker, could not be reached. */
const CANNOT_CONNECT = 3;

const ASK_AGAIN_MS = 500;

const LONGEST_MS = 120_000;

const answerIn = (text: string): Told["answer"] => {
  try {
    const answer: unknown = JSON.parse(text);
    // Its fields stay unknown.
    return typeof answer === "object" && answer !== null ? (answer as Told["answer"]) : {};
  } catch {
    return {};
  }
};

/** The command line by which people start, end, retry and list runs. */
export class Starter {
  readonly #main: string;
  readonly #environment: () => NodeJS.ProcessEnv;

  constructor(main: string, environment: () => NodeJS.ProcessEnv) {
    this.#main = main;
    this.#environment = environment;
  }

  /** Runs one command with `--json`. */
  async run(args: readonly string[]): Promise<Told> {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        ["--conditions=@durable-payments/source", this.#main, ...args, "--json"],
        { env: this.#environment(), timeout: LONGEST_MS, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
          resolve({ code, answer: answerIn(stdout), text: `${stdout}${stderr}` });
        },
      );
    });
  }

  /** Runs it until Temporal could be reached; undefined when it is over before. */
  async runUntilReached(args: readonly string[], over: AbortSignal): Promise<Told | undefined> {
    while (!over.aborted) {
      const told = await this.run(args);
      if (told.code !== CANNOT_CONNECT) return told;
      await pause(ASK_AGAIN_MS, over);
    }
    return undefined;
  }
}
