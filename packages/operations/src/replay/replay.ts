import { fileURLToPath } from "node:url";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import { messageOf } from "@durable-payments/api-core/values";
import { decodeMessage } from "@durable-payments/codec";
import type { DataConverter } from "@temporalio/common";
import type { WorkflowBundle } from "@temporalio/worker";
import type { Temporal } from "../connection/temporal.ts";
import { InvalidInput } from "../errors.ts";
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
 * @param file its name, for messages.
 * @param workflowId of the run, where its history does not say it: those of older servers do not.
 * @returns the run, to be replayed.
 * @throws InvalidInput where it is no history, or that of another run, or of which run is not known.
 */
export const readRunOfFile = async (
  json: unknown,
  file: string,
  workflowId?: string,
): Promise<RunToReplay> => {
  const { InvalidHistory, readRun, WrongWorkflowId } = await loadReplay();
  try {
    return readRun(json, workflowId);
  } catch (cause) {
    if (cause instanceof InvalidHistory) {
      throw new InvalidInput({
        message: `${file} holds no history that can be replayed: ${cause.message}. \`temporal workflow show --output json\` writes one, too.`,
        next: { operation: "export" },
        cause,
      });
    }
    if (!(cause instanceof WrongWorkflowId)) throw cause;
    throw new InvalidInput({
      message:
        workflowId === undefined
          ? `${file} does not say the workflow id of its run, from which keys of payments and ids of children are derived: give it with the file.`
          : `${file} is not that of this run: ${cause.message}.`,
      cause,
    });
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

/** Path of the module that exports the workflows of this project. */
const ownWorkflows = (): string =>
  fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions"));

const bundled = async (workflows: string): Promise<WorkflowBundle> => {
  const { bundleForReplay } = await loadReplay();
  const { paymentsBundler } = await import("@durable-payments/workflows/bundler-plugin");
  try {
    return await bundleForReplay(workflows, [paymentsBundler({ shared: [] })]);
  } catch (cause) {
    const message = `The workflows in ${workflows} cannot be bundled: ${messageOf(cause)}`;
    throw new InvalidInput({ message, cause });
  }
};

const decodeHistory = async (
  { history, workflowId }: RunToReplay,
  dataConverter: DataConverter,
): Promise<void> => {
  try {
    await decodeMessage(history, dataConverter);
  } catch (cause) {
    const message = `The history of ${workflowId} cannot be decoded: ${messageOf(cause)}.`;
    throw new InvalidInput({ message, cause });
  }
};

const hasNoWorkflow = (replay: Replay): boolean =>
  !replay.deterministic && replay.kind === "unknownWorkflow";

/**
 * Replay histories against workflow code: would the runs go on under it?
 *
 * @param runs what `selectRuns` or `readRunOfFile` returns.
 * @param workflows path of the module that exports the workflows, beside this project's own; default: these alone.
 * @param dataConverter by which the histories of files are decoded; those of `selectRuns` are.
 * @returns one result for each run: deterministic, or where the code differs.
 * @throws InvalidInput where they cannot be bundled, or a history cannot be decoded.
 */
export async function* replayRuns(
  runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>,
  workflows?: string,
  dataConverter?: DataConverter,
): AsyncGenerator<Replay> {
  const { replayHistories } = await loadReplay();
  const bundle = await bundled(workflows ?? ownWorkflows());
  let latest: RunToReplay | undefined;
  async function* watched() {
    for await (const run of runs) {
      latest = run;
      if (dataConverter !== undefined) await decodeHistory(run, dataConverter);
      yield run;
    }
  }
  let own: WorkflowBundle | undefined;
  for await (const replay of replayHistories(bundle, watched())) {
    // A worker has both, and payouts are not exported by the module of somebody's own workflows.
    if (workflows !== undefined && latest !== undefined && hasNoWorkflow(replay)) {
      own ??= await bundled(ownWorkflows());
      yield* replayHistories(own, [latest]);
    } else yield replay;
  }
}
