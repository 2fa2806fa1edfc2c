import { fileURLToPath } from "node:url";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import { messageOf } from "@durable-payments/api-core/values";
import type { Temporal } from "../connection/temporal.ts";
import { invalidInput } from "../errors.ts";
import { listRuns } from "../runs/list.ts";
import { describeRun } from "../runs/state.ts";

/** Which runs are to be replayed. */
export type ReplaySelection =
  | { readonly from: "run"; readonly workflowId: string; readonly runId: string | undefined }
  /** All that failed, the latest of each id. */
  | {
      readonly from: "failed";
      readonly since: Date | undefined;
      readonly type: string | undefined;
    };

/** What a replay needs is loaded when something is replayed: it brings native code. */
const loadReplay = () => import("@durable-payments/replay");

/**
 * Read the run whose history a file holds.
 *
 * @param json what the file holds.
 * @param file its name, by which it is called where the history names no workflow id.
 * @throws InvalidInput where it is no history.
 */
export const readRunOfFile = async (json: unknown, file: string): Promise<RunToReplay> => {
  const { InvalidHistory, readHistory } = await loadReplay();
  try {
    const history = readHistory(json);
    const named = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
    return { workflowId: named || file, history };
  } catch (error) {
    if (!(error instanceof InvalidHistory)) throw error;
    throw invalidInput(
      `${file} holds no history: ${error.message}. \`temporal workflow show --output json\` writes one, too.`,
      undefined,
      { operation: "export" },
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
 * Read the selected runs with their histories, one after the other.
 *
 * @param temporal the connection of `withTemporal`.
 * @param selection a run by its id, or the runs of a time and a type.
 * @returns the runs, each with its history.
 * @throws NotFound where there is no such run.
 */
export async function* selectRuns(
  temporal: Temporal,
  selection: ReplaySelection,
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

/**
 * Replay histories against workflow code: would the runs go on under it?
 *
 * @param runs what `selectRuns` or `readRunOfFile` returns.
 * @param workflows path of the module that exports the workflows; default: this project's own.
 * @returns one result for each run: deterministic, or where the code differs.
 * @throws InvalidInput where they cannot be bundled.
 */
export async function* replayRuns(
  runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>,
  workflows = fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions")),
): AsyncGenerator<Replay> {
  const { bundleForReplay, replayHistories } = await loadReplay();
  const { paymentsBundler } = await import("@durable-payments/workflows/bundler-plugin");
  const bundle = await bundleForReplay(workflows, [paymentsBundler({ shared: [] })]).catch(
    (error: unknown) => {
      throw invalidInput(`The workflows in ${workflows} cannot be bundled: ${messageOf(error)}`);
    },
  );
  yield* replayHistories(bundle, runs);
}
