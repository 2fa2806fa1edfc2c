import { InvalidHistory, readHistory, type RunToReplay } from "@durable-payments/replay";
import type { Temporal } from "../connection/temporal.ts";
import { badInput } from "../errors.ts";
import { readJson } from "../input/read-json.ts";
import { listRuns } from "../runs/run-list.ts";
import { describeRun } from "../runs/run-state.ts";
import type { Selection } from "./selection.ts";

/**
 * The run whose history a file holds.
 *
 * @throws BadInput when it holds none
 */
export const runOfFile = async (file: string): Promise<RunToReplay> => {
  const json = await readJson(file);
  try {
    const history = readHistory(json);
    const told = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
    return { workflowId: told || file, history };
  } catch (error) {
    if (!(error instanceof InvalidHistory)) throw error;
    throw badInput(
      `${file} holds no history: ${error.message}. \`starter runs export\` and \`temporal workflow show --output json\` write one.`,
    );
  }
};

const historyOf = async (
  { client }: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<RunToReplay> => ({
  workflowId,
  history: await client.workflow.getHandle(workflowId, runId).fetchHistory(),
});

/**
 * The selected runs with their histories, one after the other, as Temporal has them.
 *
 * @throws BadInput when there is no such run
 */
export async function* runsOfServer(
  temporal: Temporal,
  selection: Exclude<Selection, { from: "file" }>,
): AsyncGenerator<RunToReplay> {
  if (selection.from === "run") {
    yield historyOf(temporal, await describeRun(temporal, selection.workflowId, selection.runId));
    return;
  }
  const { since, type } = selection;
  for await (const run of listRuns(temporal, { standing: ["failed"], since, type })) {
    yield historyOf(temporal, run);
  }
}
