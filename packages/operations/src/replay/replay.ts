import { fileURLToPath } from "node:url";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import { messageOf } from "@durable-payments/api-core/values";
import { decodeMessage } from "@durable-payments/codec";
import type { DataConverter } from "@temporalio/common";
import type { WorkflowBundle } from "@temporalio/worker";
import type { Operations } from "../connection/operations.ts";
import { InvalidInput, NotFound } from "../errors.ts";
import { listRuns } from "../show/list.ts";
import { readProgress } from "../show/progress.ts";

/** Which runs are to be replayed. */
export type ReplaySelection =
  | { readonly from: "run"; readonly workflowId: string; readonly runId: string | undefined }
  /** All that failed, the latest run of each id. */
  | {
      readonly from: "failed";
      /** Milliseconds since 1970. */
      readonly since: number | undefined;
      readonly type: string | undefined;
      readonly limit: number;
    };

/** What a replay needs is loaded when something is replayed: it brings native code. */
const loadReplay = () => import("@durable-payments/replay");

/**
 * Reads the run whose history a file holds.
 *
 * @param json what the file holds.
 * @param file its name, for messages.
 * @param workflowId of the run, where its history does not say it: those of older servers do not.
 * @returns the run, to be replayed.
 * @throws InvalidInput where it is not a history, or is that of another run, or its run is not known.
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
        cause,
      });
    }
    if (!(cause instanceof WrongWorkflowId)) throw cause;
    throw new InvalidInput({
      message:
        workflowId === undefined
          ? `${file} does not say the workflow id of its run, from which the ids of children are derived: give it with the file.`
          : `${file} is not that of this run: ${cause.message}.`,
      cause,
    });
  }
};

const historyOf = async (
  { client }: Pick<Operations, "client">,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<RunToReplay> => ({
  workflowId,
  history: await client.workflow.getHandle(workflowId, runId).fetchHistory(),
});

/**
 * Reads the selected runs with their histories, one after the other.
 *
 * @param operations Temporal and the ledger.
 * @param selection a run by its id, or the runs of a time and a type.
 * @returns the runs, each with its history.
 * @throws NotFound where there is no such run.
 */
export async function* selectRuns(
  operations: Operations,
  selection: ReplaySelection,
): AsyncGenerator<RunToReplay> {
  if (selection.from === "run") {
    const { runId, workflowId } = selection;
    const run = await readProgress(operations.client, workflowId, runId);
    if (run === undefined) {
      throw new NotFound({ message: `Temporal has no run ${runId ?? ""} of ${workflowId}.` });
    }
    yield historyOf(operations, { workflowId, runId: run.runId });
    return;
  }
  const { limit, since, type } = selection;
  const { runs } = await listRuns(operations, { statuses: ["failed"], since, type, limit });
  for (const { runId, workflowId } of runs) {
    if (runId !== null) yield historyOf(operations, { workflowId, runId });
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
 * Replays histories against workflow code: would the runs continue under it?
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
