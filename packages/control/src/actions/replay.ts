import { messageOf } from "@durable-payments/client/values";
import { baseQueue, queryText, queryTexts, queryTime } from "@durable-payments/protocol";
import type { Replay, RunToReplay } from "@durable-payments/replay";
import type { WorkflowBundle } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import type { Connected } from "../facts/connection/connections.ts";
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
  { client, taskQueue }: Pick<Connected, "client" | "taskQueue">,
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

/**
 * Bundles workflow code for replays.
 *
 * @param workflows path of a module that exports workflows of your own and, as a worker needs, those of this project; default: only the latter.
 * @throws InvalidInput if they cannot be bundled.
 */
export const bundleToReplay = async (workflows?: string): Promise<WorkflowBundle> => {
  // Loaded only for a replay, because it has native code.
  const { bundleForReplay } = await import("@durable-payments/replay");
  const { paymentsBundler } = await import("@durable-payments/workflows/bundler-plugin");
  const path =
    workflows ?? fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions"));
  try {
    return await bundleForReplay(path, [paymentsBundler({ shared: [] })]);
  } catch (error) {
    const [, missing] = /Can't resolve '([^'./][^']*)'/.exec(messageOf(error)) ?? [];
    const why =
      missing === undefined
        ? messageOf(error)
        : `${missing} is not installed: run npm install in the folder of that project.`;
    throw invalidInput(`The workflows in ${path} cannot be bundled: ${why}`);
  }
};

/**
 * Replays histories against workflow code: would the runs continue under it?
 *
 * @param runs result of `selectRuns`.
 * @returns one result for each run: deterministic, or with the difference.
 * @throws InvalidInput if the workflows cannot be bundled.
 */
export async function* replayRuns(
  runs: AsyncIterable<RunToReplay>,
  workflows?: string,
): AsyncGenerator<Replay> {
  const bundle = await bundleToReplay(workflows);
  const { replayHistories } = await import("@durable-payments/replay");
  yield* replayHistories(bundle, runs);
}
