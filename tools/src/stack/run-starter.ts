import { appArguments } from "../processes/apps.ts";
import { lastLines } from "../processes/await-ready.ts";
import type { StartedProcess } from "../processes/spawn-process.ts";
import type { Stack } from "./stack.ts";

/** How a run ended, as lines for a person. */
export interface Outcome {
  readonly state: string;
  /** Each step and what it made, then why the run failed. */
  readonly lines: ReadonlyArray<string>;
}

/**
 * Starts a run by the starter, and follows it to its end.
 *
 * @param args of the command that starts it, such as `["pay", FILE]`.
 * @param id workflow id of the run.
 * @param onProgress receives each line that the starter prints while it follows the run.
 * @throws Error where the starter refuses, or ends without the state of the run.
 */
export const runStarter = async (
  stack: Stack,
  args: ReadonlyArray<string>,
  id: string,
  onProgress: (line: string) => void,
): Promise<Outcome> => {
  const start = stack.spawn("start", appArguments("starter", [...args, "--id", id, "--json"]));
  const { code } = await start.exited;
  if (code !== 0) throw failed(start, code);
  const show = stack.spawn("show", appArguments("starter", ["show", id, "--follow", "--json"]));
  let unread = "";
  show.onStderr((text) => {
    const lines = (unread + text).split("\n");
    unread = lines.pop() ?? "";
    lines.filter((line) => line.trim() !== "").forEach(onProgress);
  });
  const ended = await show.exited;
  const outcome = parseOutcome(show.stdout());
  if (ended.code !== 0 || outcome === undefined) throw failed(show, ended.code);
  return outcome;
};

const failed = (starter: StartedProcess, code: number | undefined): Error =>
  new Error(`${starter.name} ended with exit code ${code}. Its last lines:\n${lastLines(starter)}`);

/** Reads the one JSON object that `starter show ID --json` prints. */
export const parseOutcome = (printed: string): Outcome | undefined => {
  const run = parsed(printed);
  if (!isRecord(run) || typeof run["state"] !== "string") return undefined;
  const { failure, state, steps } = run;
  const rows = (Array.isArray(steps) ? steps : [])
    .filter(isRecord)
    .filter(({ kind }) => kind === "write" || kind === "wait")
    .map(({ madeId, name, text }) => [String(name), String(madeId ?? text)] as const);
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  const why = isRecord(failure) ? [String(failure["message"])] : [];
  return {
    state,
    lines: [...rows.map(([name, what]) => `${name.padEnd(width)}  ${what}`), ...why],
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
