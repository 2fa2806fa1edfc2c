import { resolve } from "node:path";
import { readRunOfFile, replayRuns, selectRuns } from "@durable-payments/operations/replay";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import type { Output } from "../output/output.ts";
import { replayLayout } from "../output/replay-text.ts";
import { answerList } from "../output/stream.ts";
import { withTemporal } from "../settings.ts";
import { readJson } from "./input/read-json.ts";
import type { Selection } from "./input/replay-selection.ts";

/** What the SDK logs of a replay that fails is in the answer already, in better words. */
const silenceSdk = () => {
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
  });
};

/**
 * Replay the selected histories, and answer with what came of each.
 *
 * @returns whether all are deterministic.
 */
export const replaySelected = async (
  output: Output,
  selection: Selection,
  workflows: string | undefined,
): Promise<boolean> => {
  silenceSdk();
  let isAllDeterministic = true;
  async function* watched(replays: AsyncIterable<Replay>) {
    for await (const replay of replays) {
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
    const { file } = selection;
    await answer([await readRunOfFile(await readJson(file), file)]);
  } else await withTemporal((temporal) => answer(selectRuns(temporal, selection)));
  return isAllDeterministic;
};
