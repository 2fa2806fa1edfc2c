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

/** Which runs are to be replayed: the latest run of an id, or all that failed. */
export interface ReplaySelection extends Pick<RunListFilter, "since" | "type"> {
  readonly workflowId?: string | undefined;
}

/** Most failed runs that are replayed. */
const MOST_RUNS = 1_000;

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
 * @throws NotFound where there is no such run.
 */
export async function* selectRuns(
  operations: Operations,
  { since, type, workflowId }: ReplaySelection,
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
  const failed = { statuses: ["failed"], since, type, limit: MOST_RUNS } as const;
  const { runs } = await listRuns(operations, failed);
  for (const { runId, workflowId: id } of runs) if (runId !== null) yield historyOf(id, runId);
}

/** Path of the module that exports the workflows of this project. */
const ownWorkflows = (): string =>
  fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions"));

/** Does something with what was given: what it fails with is a fault of that. */
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
