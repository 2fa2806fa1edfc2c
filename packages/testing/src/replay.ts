import { isOpenStatus } from "@durable-payments/protocol";
import { describeDifference, replayHistories, type RunToReplay } from "@durable-payments/replay";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { bundleOf } from "./bundles.ts";

/** Runs would not continue under the code as it is now; the message shows where each differs. */
export class NotReplayable extends Error {
  override readonly name = "NotReplayable";
}

const isReplayable = async (
  workflowsPath: string,
  runs: ReadonlyArray<RunToReplay>,
): Promise<boolean> => {
  const workflowBundle = await bundleOf(workflowsPath, "worker");
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, runs)) {
    if (error !== undefined) return false;
  }
  return true;
};

/**
 * Replays histories against the code of the runs, or against other code. Differences are looked for only if there are
 * any, since that takes another bundle; the SDK does not see a send as another step.
 *
 * @param path module of the workflows that the runs are of.
 * @param otherPath module to replay them against instead.
 * @returns the workflow ids of the runs.
 * @throws NotReplayable
 */
export const replayRuns = async (
  path: string,
  runs: ReadonlyArray<RunToReplay>,
  otherPath = path,
): Promise<ReadonlyArray<string>> => {
  const ids = runs.map(({ workflowId }) => workflowId);
  const isOther = otherPath !== path;
  if (!isOther && (await isReplayable(path, runs))) return ids;
  const bundle = await bundleOf(otherPath, "replay");
  const lines: Array<string> = [];
  for await (const replay of replayHistories(bundle, runs)) {
    if (replay.deterministic) continue;
    const description = describeDifference(replay).map((line) => `  ${line}`);
    lines.push(`${replay.workflowId} (${replay.type}):`, ...description);
  }
  if (isOther && lines.length === 0) return ids;
  throw new NotReplayable(
    ["Runs of this test do not replay: the code differs from their histories.", ...lines].join(
      "\n",
    ),
  );
};

/** A run of a test, with its history. */
type StartedRun = RunToReplay & { readonly runId: string | undefined };

/** A run, and those that it has started: read from its history, as not every server lists runs. */
const family = async (
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<ReadonlyArray<StartedRun>> => {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const events = history.events ?? [];
  const next = events
    .map((event) => event.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId)
    .find((id) => typeof id === "string" && id !== "");
  const children = events.flatMap(
    (event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution ?? [],
  );
  const others = await Promise.all([
    ...(next === undefined || next === null ? [] : [family(client, workflowId, next)]),
    ...children.map((child) => family(client, child.workflowId ?? "", child.runId ?? undefined)),
  ]);
  return [{ workflowId, runId, history }, ...others.flat()];
};

/** The runs of a test: those that it has started, their children and continuations. */
export const testRuns = (client: Client) => {
  const started: Array<{ readonly workflowId: string; readonly runId: string }> = [];
  const histories = async (): Promise<ReadonlyArray<StartedRun>> => {
    const families = started.map(({ runId, workflowId }) => family(client, workflowId, runId));
    return (await Promise.all(families)).flat();
  };
  return {
    note: (workflowId: string, runId: string) => void started.push({ workflowId, runId }),
    /** Returns the histories of all runs. */
    histories,
    /**
     * Ends the open runs.
     *
     * @returns whether there was one.
     */
    end: async (): Promise<boolean> => {
      let wasOpen = false;
      for (const { runId, workflowId } of await histories()) {
        const handle = client.workflow.getHandle(workflowId, runId);
        try {
          if (!isOpenStatus((await handle.describe()).status.name)) continue;
          wasOpen = true;
          await handle.terminate("The test is over.");
        } catch (error) {
          // It has ended meanwhile.
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      }
      return wasOpen;
    },
  };
};
