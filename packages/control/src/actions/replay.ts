import { messageOf } from "@durable-payments/api-core/values";
import { decodeMessage } from "@durable-payments/codec";
import { baseQueue, queryText, queryTexts, queryTime } from "@durable-payments/protocol";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import type { DataConverter } from "@temporalio/common";
import { fileURLToPath } from "node:url";
import type { Operations } from "../facts/connection/operations.ts";
import { findRun, listed } from "../facts/connection/temporal.ts";
import { invalidInput, notFound } from "../errors.ts";

/** The runs to replay: the latest run of an id, or all open or failed runs of the workers' task queues. */
export interface ReplaySelection {
  readonly workflowId?: string | undefined;
  readonly isOpen?: boolean;
  readonly isFailed?: boolean;
  /** Started since: milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Workflow type. */
  readonly type?: string | undefined;
}

/** Runs with the wanted status that are not replayed. */
export interface SkippedRuns {
  readonly reason: string;
  readonly runs: number;
}

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
  const { InvalidHistory, readRun } = await loadReplay();
  try {
    return readRun(json, workflowId);
  } catch (error) {
    if (!(error instanceof InvalidHistory)) throw error;
    throw invalidInput(
      `${file} cannot be replayed: ${error.message}. \`temporal workflow show --output json\` writes a history.`,
    );
  }
};

/** Returns the condition of Temporal's visibility. All types count, with or without a write: a worker must continue each. */
const conditionOf = ({ isFailed, isOpen, since, type }: ReplaySelection): string => {
  const statuses = [
    ...(isOpen ? ["CloseTime IS NULL"] : []),
    ...(isFailed ? [`ExecutionStatus IN ${queryTexts(["Failed", "TimedOut", "Terminated"])}`] : []),
  ];
  return [
    `(${statuses.join(" OR ")})`,
    ...(since === undefined ? [] : [`StartTime >= ${queryTime(since)}`]),
    ...(type === undefined ? [] : [`WorkflowType = ${queryText(type)}`]),
  ].join(" AND ");
};

/**
 * Reads the selected runs with their histories, one after the other.
 *
 * @param onSkipped is called for runs that match, and that the workers of these settings do not continue.
 * @throws NotFound if there is no such run.
 */
export async function* selectRuns(
  { client, taskQueue }: Pick<Operations, "client" | "taskQueue">,
  selection: ReplaySelection,
  onSkipped: (skipped: SkippedRuns) => void = () => undefined,
): AsyncGenerator<RunToReplay> {
  const { workflowId } = selection;
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
  let others = 0;
  let earlier = 0;
  for await (const run of listed(client, conditionOf(selection))) {
    const { isOpen, runId, taskQueue: queue, workflowId: id } = run;
    if (baseQueue(queue) !== taskQueue) others += 1;
    else if (!isOpen && (await findRun(client, id))?.runId !== runId) earlier += 1;
    else yield historyOf(id, runId);
  }
  if (others > 0) onSkipped({ reason: `not on the task queue ${taskQueue}`, runs: others });
  if (earlier > 0) onSkipped({ reason: "started again since", runs: earlier });
}

/** Runs a function on user input, and reports its failure as a fault of that input. */
const withGiven = async <A>(what: string, use: () => Promise<A>): Promise<A> => {
  try {
    return await use();
  } catch (error) {
    throw invalidInput(`${what}: ${messageOf(error)}`);
  }
};

/**
 * Replays histories against workflow code: would the runs continue under it?
 *
 * @param runs result of `selectRuns` or `readRunOfFile`.
 * @param workflows path of a module that exports workflows of your own and, as a worker needs, those of this project; default: only the latter.
 * @param dataConverter decodes the histories of files; those of `selectRuns` are decoded already.
 * @returns one result for each run: deterministic, or with the difference.
 * @throws InvalidInput if they cannot be bundled, or a history cannot be decoded.
 */
export async function* replayRuns(
  runs: AsyncIterable<RunToReplay> | Iterable<RunToReplay>,
  workflows?: string,
  dataConverter?: DataConverter,
): AsyncGenerator<Replay> {
  const { bundleForReplay, replayHistories } = await loadReplay();
  const { paymentsBundler } = await import("@durable-payments/workflows/bundler-plugin");
  const path =
    workflows ?? fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions"));
  const bundle = await withGiven(`The workflows in ${path} cannot be bundled`, () =>
    bundleForReplay(path, [paymentsBundler({ shared: [] })]),
  );
  async function* decoded() {
    for await (const run of runs) {
      if (dataConverter !== undefined)
        await withGiven(`The history of ${run.workflowId} cannot be decoded`, () =>
          decodeMessage(run.history, dataConverter),
        );
      yield run;
    }
  }
  yield* replayHistories(bundle, decoded());
}
