import type { Replay, RunToReplay } from "@durable-payments/replay";
import { Argument, Command } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { json, on, text } from "./flags.ts";
import { readTime } from "../input/since.ts";
import { runCommand } from "./run-command.ts";

const parameters = {
  id: Argument.String("ID").pipe(
    Argument.withDescription("Workflow id; with --file where FILE lacks it"),
    Argument.optional,
  ),
  run: text("run", "RUN", "An earlier run of the id; default: the latest"),
  file: text("file", "FILE", "A history, by temporal workflow show --output json"),
  failed: on("failed", "All that failed, the latest run of each id"),
  since: text("since", "AGE", "… started since: 30d, 12h, 2026-11-01"),
  type: text("type", "TYPE", "… of this workflow type, such as payout"),
  workflows: text("workflows", "PATH", "Module of your own workflows"),
  json,
};

/** Most failed runs that are replayed. */
const MOST_RUNS = 1_000;

const readHistory = async (file: string, workflowId: string | undefined): Promise<RunToReplay> => {
  const { readFile } = await import("node:fs/promises");
  const { messageOf } = await import("@durable-payments/api-core/values");
  const { readRunOfFile } = await import("@durable-payments/operations/replay");
  let history: unknown;
  try {
    history = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw badUsage(`${file} cannot be read: ${messageOf(error)}.`);
  }
  return readRunOfFile(history, file, workflowId);
};

/** `starter replay`: replays histories against the workflow code. */
export const replay = Command.make("replay", parameters, (given) =>
  runCommand(given.json, async (output) => {
    const [workflowId, file, runId, path] = [given.id, given.file, given.run, given.workflows].map(
      Option.getOrUndefined,
    );
    if (given.failed === (workflowId !== undefined || file !== undefined)) {
      throw badUsage("Name exactly one of the ID of a run, --file FILE and --failed.");
    }
    const { resolve } = await import("node:path");
    const { temporalSettings } = await import("@durable-payments/operations/connection");
    const { replayRuns, selectRuns } = await import("@durable-payments/operations/replay");
    const { differenceText } = await import("@durable-payments/replay");
    const { replayText } = await import("../output/replay-text.ts");
    const { operating } = await import("../settings.ts");
    const { dataConverter } = temporalSettings(process.env);
    const replayed = async (runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>) => {
      output.live("replaying …");
      const workflows = path === undefined ? undefined : resolve(path);
      const found: Array<Replay> = [];
      for await (const run of replayRuns(runs, workflows, dataConverter)) found.push(run);
      return found;
    };
    const since = Option.getOrUndefined(
      Option.map(given.since, (age) => readTime("since", age).getTime()),
    );
    const type = Option.getOrUndefined(given.type);
    const runs =
      file === undefined
        ? await operating((operations) =>
            replayed(
              selectRuns(
                operations,
                workflowId === undefined
                  ? { from: "failed", since, type, limit: MOST_RUNS }
                  : { from: "run", workflowId, runId },
              ),
            ),
          )
        : await replayed([await readHistory(file, workflowId)]);
    output.answer({ runs }, (shown) => replayText(shown.runs, differenceText));
    return runs.every(({ deterministic }) => deterministic)
      ? EXIT_CODES.done
      : EXIT_CODES.runFailed;
  }),
).pipe(
  Command.withShortDescription("Replay runs against the workflow code"),
  Command.withDescription(
    `Replay the histories of runs against the workflow code that is installed here:
  would they continue under it? Nothing is sent, no worker is needed. Of one
  that is not deterministic: the first event that the code does not lead
  to, and what it does instead, in which lines.

  Exit codes: 0 all are deterministic, 1 at least one is not, 2 bad input,
  3 cannot connect, 130 interrupted.`,
  ),
  Command.withExamples([
    { command: "starter replay invoice-17", description: "One run" },
    { command: "starter replay --failed --since 30d", description: "Before a release" },
  ]),
);
