import { resolve } from "node:path";
import { temporalSettings } from "@durable-payments/operations/connection";
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

type Different = Extract<Replay, { readonly deterministic: false }>;

/** Why nothing can be said of a run, where that is so. */
const whyUnknown = (
  { kind, message, type, workflowId }: Different,
  workflows: string | undefined,
): string | undefined => {
  if (kind === "unreadable") {
    return `The history of ${workflowId} was written by a codec of yours, and cannot be read here (${message}). Set PAYMENTS_KEYRING, or PAYMENTS_DATA_CONVERTER, as your workers have it.`;
  }
  if (kind !== "unknownWorkflow") return undefined;
  const notFound =
    workflows === undefined
      ? "is not one of durable-payments'"
      : `neither ${workflows} exports nor durable-payments has`;
  return `${workflowId} is a run of the workflow type ${type}, which ${notFound}: give the module that exports it by --workflows PATH.`;
};

/**
 * Replay the selected histories, and answer with what came of each.
 *
 * @returns whether all are deterministic.
 * @throws BadUsage for a run of which nothing can be said: of a workflow that no given module has, or written by a codec.
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
      if (!replay.deterministic) {
        const why = whyUnknown(replay, workflows);
        if (why !== undefined) throw badUsage(why);
        isAllDeterministic = false;
      }
      yield replay;
    }
  }
  const answer = async (runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>) => {
    output.live("replaying …");
    const path = workflows === undefined ? undefined : resolve(workflows);
    const { differenceText } = await import("@durable-payments/replay");
    const { dataConverter } = temporalSettings(process.env);
    const replays = replayRuns(runs, path, dataConverter);
    await answerList(output, watched(replays), replayLayout(differenceText));
  };
  if (selection.from === "file") {
    const { file, workflowId } = selection;
    const json = await readJson(file);
    await answer([await readRunOfFile(json, nameOfFile(file), workflowId)]);
  } else await withTemporal((temporal) => answer(selectRuns(temporal, selection)));
  return isAllDeterministic;
};
