import { resolve } from "node:path";
import { readRunOfFile, replayRuns, selectRuns } from "@durable-payments/operations/replay";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import { badUsage } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { replayLayout } from "../output/replay-text.ts";
import { answerList } from "../output/stream.ts";
import { withTemporal } from "../settings.ts";
import { nameOfFile, readJson } from "./input/read-json.ts";
import type { Selection } from "./input/replay-selection.ts";
import { logSdkWhereWanted } from "./sdk-log.ts";

/** A run of a workflow that no module has which was given: nothing can be said of it. */
const noModule = ({ type, workflowId }: Replay, workflows: string | undefined) =>
  badUsage(
    workflows === undefined
      ? `${workflowId} is a run of the workflow type ${type}, which is not one of durable-payments': give the module that exports it by --workflows PATH.`
      : `${workflowId} is a run of the workflow type ${type}, which neither ${workflows} exports nor durable-payments has: give the module that exports it by --workflows PATH.`,
  );

/**
 * Replay the selected histories, and answer with what came of each.
 *
 * @returns whether all are deterministic.
 * @throws BadUsage for a run whose workflow is in no module that was given.
 */
export const replaySelected = async (
  output: Output,
  selection: Selection,
  workflows: string | undefined,
): Promise<boolean> => {
  logSdkWhereWanted();
  let isAllDeterministic = true;
  async function* watched(replays: AsyncIterable<Replay>) {
    for await (const replay of replays) {
      if (!replay.deterministic && replay.kind === "unknownWorkflow") {
        throw noModule(replay, workflows);
      }
      if (!replay.deterministic) isAllDeterministic = false;
      yield replay;
    }
  }
  const answer = async (runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>) => {
    output.live("replaying …");
    const path = workflows === undefined ? undefined : resolve(workflows);
    await answerList(output, watched(replayRuns(runs, path)), replayLayout);
  };
  if (selection.from === "file") {
    const { file, workflowId } = selection;
    const json = await readJson(file);
    await answer([await readRunOfFile(json, nameOfFile(file), workflowId)]);
  } else await withTemporal((temporal) => answer(selectRuns(temporal, selection)));
  return isAllDeterministic;
};
