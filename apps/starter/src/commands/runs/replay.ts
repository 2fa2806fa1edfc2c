import { Argument, Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES } from "../../exit-codes.ts";
import { json, temporalRunId } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional,
  );

const parameters = {
  id: Argument.String("ID").pipe(
    Argument.withDescription("Workflow id; with --file where FILE lacks it"),
    Argument.optional,
  ),
  runId: temporalRunId,
  file: text("file", "FILE", "A history from runs export; - reads standard input"),
  failed: Flag.Boolean("failed").pipe(
    Flag.withDescription("All that failed or timed out, the latest of each id"),
    Flag.withDefault(false),
  ),
  since: text("since", "AGE", "… started or ended since: 30d, 12h, 2026-11-01"),
  type: text("type", "TYPE", "… of this workflow type, such as payout"),
  workflows: text("workflows", "PATH", "Module of your own workflows, beside this checkout's"),
  json,
};

/** `starter runs replay`: replays histories against the workflow code of this checkout. */
export const replay = Command.make("replay", parameters, (given) =>
  runCommand(given.json, async (output) => {
    const { selectionOf } = await import("../input/replay-selection.ts");
    const { replaySelected } = await import("../replay-selected.ts");
    const selection = selectionOf({
      id: Option.getOrUndefined(given.id),
      runId: Option.getOrUndefined(given.runId),
      file: Option.getOrUndefined(given.file),
      failed: given.failed,
      since: Option.getOrUndefined(given.since),
      type: Option.getOrUndefined(given.type),
    });
    const workflows = Option.getOrUndefined(given.workflows);
    const isAllDeterministic = await replaySelected(output, selection, workflows);
    return isAllDeterministic ? EXIT_CODES.done : EXIT_CODES.runFailed;
  }),
).pipe(
  Command.withShortDescription("Replay runs against this checkout's workflows"),
  Command.withDescription(
    `Replay the histories of runs against the workflow code of this checkout, as it
  is now: would they go on under it? Nothing is sent, no worker is needed. For
  one that is not deterministic, the first event that the code does not lead to,
  what it does instead, and in which lines. A payment that the code sends as
  another step, or under another key, is shown, too: Temporal does not see it.

  Exit codes: 0 all are deterministic, 1 at least one is not, 2 bad input,
  3 cannot connect, 130 interrupted.`,
  ),
  Command.withExamples([
    { command: "starter runs replay invoice-2026-001", description: "One run" },
    { command: "starter runs replay --file run.json", description: "Without a server" },
    { command: "starter runs replay --failed --since 30d", description: "Before a release" },
  ]),
);
