import { replayHistories, type Replay, type RunToReplay } from "@durable-payments/replay";
import { Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.ts";

/** Runs would not go on under the code as it is now; the message shows where each differs. */
export class NotReplayable extends Error {
  override readonly name = "NotReplayable";
}

type Different = Extract<Replay, { readonly deterministic: false }>;
type Place = Different["difference"]["stack"][number];

const placeOf = ({ column, file, line, source }: Place): string =>
  `    ${file}:${line}:${column}${source === undefined ? "" : `  ${source}`}`;

const recorded = ({ name, type }: { readonly type: string; readonly name?: string }): string =>
  name === undefined ? type : `${type} ${name}`;

const linesOf = ({ difference, message, type, workflowId }: Different): ReadonlyArray<string> => {
  const { command, event, stack, waitsAt } = difference;
  return [
    `${workflowId} (${type}):`,
    `  history: ${event === undefined ? "no further event" : `event ${event.id}, ${recorded(event)}`}`,
    `  code:    ${command === undefined ? "nothing of that kind" : recorded(command)}`,
    ...stack.map(placeOf),
    ...(waitsAt.length > 0 ? ["  where the code waits since:", ...waitsAt.map(placeOf)] : []),
    `  Temporal: ${message}`,
  ];
};

const isReplayable = async (
  workflowsPath: string,
  runs: ReadonlyArray<RunToReplay>,
): Promise<boolean> => {
  const workflowBundle = await bundleOf(workflowsPath, "worker");
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, runs)) {
    if (error !== undefined) return false;
  }
  return true;
};

/**
 * Replay histories against workflow code. What differs is looked for only where something does: that takes another
 * bundle.
 *
 * @returns the workflow ids of the runs.
 * @throws NotReplayable
 */
export const replayRuns = async (
  workflowsPath: string,
  runs: ReadonlyArray<RunToReplay>,
): Promise<ReadonlyArray<string>> => {
  if (await isReplayable(workflowsPath, runs)) return runs.map(({ workflowId }) => workflowId);
  const bundle = await bundleOf(workflowsPath, "replay");
  const lines: Array<string> = [];
  for await (const replay of replayHistories(bundle, runs)) {
    if (!replay.deterministic) lines.push(...linesOf(replay));
  }
  throw new NotReplayable(
    ["Runs of this test do not replay: their code does not do the same again.", ...lines].join(
      "\n",
    ),
  );
};
