import { appArguments } from "../processes/apps.ts";
import { lastLines } from "../processes/await-ready.ts";
import type { Stack } from "./stack.ts";

/** How a run ended, as lines for a person. */
export interface Outcome {
  readonly state: "completed" | "failed";
  /** The fields of the result, or what went wrong. */
  readonly lines: readonly string[];
}

/**
 * Start a run by the starter and await its end.
 *
 * @param onProgress receives each line that the starter prints while it waits
 * @throws Error when the starter ends without a result of the run
 */
export const runStarter = async (
  stack: Stack,
  args: readonly string[],
  onProgress: (line: string) => void,
): Promise<Outcome> => {
  const starter = stack.spawn("starter", appArguments("starter", [...args, "--wait", "--json"]));
  let unread = "";
  starter.onStderr((text) => {
    const lines = (unread + text).split("\n");
    unread = lines.pop() ?? "";
    lines.filter((line) => line.trim() !== "").forEach(onProgress);
  });
  const { code } = await starter.exited;
  if (unread.trim() !== "") onProgress(unread);
  const outcome = parseOutcome(starter.stdout());
  if (outcome === undefined) {
    throw new Error(
      `${starter.name} ended with exit code ${code} and no result. Its last lines:\n${lastLines(starter)}`,
    );
  }
  return outcome;
};

/** Reads the one JSON object that `starter … --wait --json` prints. */
export const parseOutcome = (printed: string): Outcome | undefined => {
  try {
    const answer: unknown = JSON.parse(printed);
    if (typeof answer !== "object" || answer === null || !("state" in answer)) return undefined;
    if (answer.state === "completed" && "result" in answer) {
      return { state: "completed", lines: describeFields(answer.result) };
    }
    return {
      state: "failed",
      lines: describeFields("failure" in answer ? answer.failure : undefined),
    };
  } catch {
    return undefined;
  }
};

const describeFields = (value: unknown): string[] => {
  if (typeof value !== "object" || value === null) return [String(value)];
  const width = Math.max(...Object.keys(value).map((name) => name.length));
  return Object.entries(value).map(
    ([name, field]) =>
      `${name.padEnd(width)}  ${typeof field === "string" ? field : JSON.stringify(field)}`,
  );
};
