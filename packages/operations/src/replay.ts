import { messageOf } from "@durable-payments/api-core/values";
import { decodeMessage } from "@durable-payments/codec";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import type { DataConverter } from "@temporalio/common";
import type { WorkflowBundle } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import type { Operations } from "./connection/operations.ts";
import { findRun } from "./connection/temporal.ts";
import { invalidInput, notFound } from "./errors.ts";
import { listRuns, type RunListFilter } from "./show/list.ts";

/** The runs to replay: the latest run of an id, or all runs with a status. */
export interface ReplaySelection extends Pick<RunListFilter, "since" | "statuses" | "type"> {
  readonly workflowId?: string | undefined;
}

/** Most runs that are replayed. */
const MOST_RUNS = 1_000;

/** Loaded only for a replay, because it has native code. */
const loadReplay = () => import("@durable-payments/replay");

/**
 * Reads the run whose history a file holds.
 *
 * @param json content of the file.
 * @param file its name, for messages.
 * @param workflowId of the run, if its history lacks it, as those of older servers do.
 * @returns the run, to be replayed.
 * @throws InvalidInput if it is not a history, or is that of another run, or its run is not known.
 */
export const readRunOfFile = async (
  json: unknown,
  file: string,
  workflowId?: string,
): Promise<RunToReplay> => {
  const { InvalidHistory, readRun, WrongWorkflowId } = await loadReplay();
  try {
    return readRun(json, workflowId);
  } catch (error) {
    if (!(error instanceof InvalidHistory) && !(error instanceof WrongWorkflowId)) throw error;
    throw invalidInput(
      `${file} cannot be replayed: ${error.message}. \`temporal workflow show --output json\` writes a history.`,
    );
  }
};

/**
 * Reads the selected runs with their histories, one after the other.
 *
 * @throws NotFound if there is no such run.
 */
export async function* selectRuns(
  operations: Operations,
  { since, statuses, type, workflowId }: ReplaySelection,
): AsyncGenerator<RunToReplay> {
  const { client } = operations;
  const historyOf = async (id: string, runId: string): Promise<RunToReplay> => ({
    workflowId: id,
    history: await client.workflow.getHandle(id, runId).fetchHistory(),
  });
  if (workflowId !== undefined) {
    const run = await findRun(client, workflowId);
    if (run === undefined) throw notFound(`Temporal has no run of ${workflowId}.`);
    yield historyOf(workflowId, run.runId);
    return;
  }
  const { runs } = await listRuns(operations, { statuses, since, type, limit: MOST_RUNS });
  for (const { runId, workflowId: id } of runs) if (runId !== null) yield historyOf(id, runId);
}

/** Path of the module that exports the workflows of this project. */
const ownWorkflows = (): string =>
  fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions"));

/** Runs a function on user input, and reports its failure as a fault of that input. */
const withGiven = async <A>(what: string, use: () => Promise<A>): Promise<A> => {
  try {
    return await use();
  } catch (error) {
    throw invalidInput(`${what}: ${messageOf(error)}`);
  }
};

const bundled = async (workflows: string): Promise<WorkflowBundle> => {
  const { bundleForReplay } = await loadReplay();
  const { paymentsBundler } = await import("@durable-payments/workflows/bundler-plugin");
  return withGiven(`The workflows in ${workflows} cannot be bundled`, () =>
    bundleForReplay(workflows, [paymentsBundler({ shared: [] })]),
  );
};

/**
 * Replays histories against workflow code: would the runs continue under it?
 *
 * @param runs result of `selectRuns` or `readRunOfFile`.
 * @param workflows path of a module with further workflows; default: only those of this project.
 * @param dataConverter decodes the histories of files; those of `selectRuns` are decoded already.
 * @returns one result for each run: deterministic, or with the place of the difference.
 * @throws InvalidInput if they cannot be bundled, or a history cannot be decoded.
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
      if (dataConverter !== undefined)
        await withGiven(`The history of ${run.workflowId} cannot be decoded`, () =>
          decodeMessage(run.history, dataConverter),
        );
      yield run;
    }
  }
  let own: WorkflowBundle | undefined;
  for await (const replay of replayHistories(bundle, watched())) {
    // A worker has both, and payouts are not exported by the module of somebody's own workflows.
    const isUnknown = !replay.deterministic && replay.kind === "unknownWorkflow";
    if (workflows !== undefined && latest !== undefined && isUnknown) {
      own ??= await bundled(ownWorkflows());
      yield* replayHistories(own, [latest]);
    } else yield replay;
  }
}
