import { isRecord } from "@durable-payments/api-core/values";
import { execFile } from "node:child_process";
import { delay } from "../delay.ts";

/** What a command of the starter has ended with. */
export interface CommandResult {
  readonly code: number;
  /** The object that it printed with `--json`; empty where it printed none. */
  readonly json: Readonly<Record<string, unknown>>;
  /** All that it printed, on both outputs. */
  readonly output: string;
}

/** The starter's exit code where Temporal, or a worker, could not be reached. */
const CANNOT_CONNECT = 3;

const RETRY_AFTER_MS = 500;

const TIMEOUT_MS = 120_000;

const parseJson = (text: string): CommandResult["json"] => {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
};

/** The command line by which people start, end, retry and list runs. */
export class Starter {
  readonly #main: string;
  readonly #variables: () => NodeJS.ProcessEnv;

  /**
   * @param main file of the starter
   * @param variables all of its environment
   */
  constructor(main: string, variables: () => NodeJS.ProcessEnv) {
    this.#main = main;
    this.#variables = variables;
  }

  /** Run one command with `--json`. */
  async run(args: readonly string[]): Promise<CommandResult> {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        ["--conditions=@durable-payments/source", this.#main, ...args, "--json"],
        { env: this.#variables(), timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
          resolve({ code, json: parseJson(stdout), output: `${stdout}${stderr}` });
        },
      );
    });
  }

  /** Run it until Temporal could be reached; undefined where the signal was aborted before. */
  async runUntilReached(
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<CommandResult | undefined> {
    while (!signal.aborted) {
      const result = await this.run(args);
      if (result.code !== CANNOT_CONNECT) return result;
      await delay(RETRY_AFTER_MS, signal);
    }
    return undefined;
  }
}

/** The workflow ids in a list of runs that a command printed. */
export const workflowIdsIn = (runs: unknown): readonly string[] =>
  (Array.isArray(runs) ? (runs as readonly unknown[]) : []).flatMap((run) =>
    isRecord(run) && "workflowId" in run ? [String(run["workflowId"])] : [],
  );
