import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  bundleForReplay,
  type Replay,
  replayHistories,
  type RunToReplay,
} from "@durable-payments/replay";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { withTemporal } from "../connection/temporal.ts";
import { badInput } from "../errors.ts";
import type { Output } from "../output/output.ts";
import { answerList } from "../output/stream.ts";
import { runOfFile, runsOfServer } from "./histories.ts";
import { replayLayout } from "./replay-text.ts";
import type { Selection } from "./selection.ts";

/** What the SDK logs of a replay that fails is in the answer already, told better. */
const silenceSdk = () => {
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
  });
};

const bundle = async (workflows: string | undefined) => {
  const path =
    workflows === undefined
      ? fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions"))
      : resolve(workflows);
  try {
    return await bundleForReplay(path, [paymentsBundler({ shared: [] })]);
  } catch (error) {
    throw badInput(
      `The workflows in ${path} cannot be bundled: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
};

/**
 * Replays the selected histories and answers with what came of each.
 *
 * @returns whether all are deterministic
 * @throws BadInput when there is no such run, or no history in the file, or no workflow to bundle
 */
export const replaySelected = async (
  output: Output,
  selection: Selection,
  { workflows }: { readonly workflows: string | undefined },
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
    output.live("bundling the workflows …");
    const replays = replayHistories(await bundle(workflows), runs);
    output.live("replaying …");
    await answerList(output, watched(replays), replayLayout);
  };
  if (selection.from === "file") await answer([await runOfFile(selection.file)]);
  else await withTemporal((temporal) => answer(runsOfServer(temporal, selection)));
  return isAllDeterministic;
};
