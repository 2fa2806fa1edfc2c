import { isOpenStatus } from "@durable-payments/protocol";
import { describeDifference, replayHistories, type RunToReplay } from "@durable-payments/replay";
import { type Client, type WorkflowHandle, WorkflowNotFoundError } from "@temporalio/client";
import { bundleOf } from "./bundles.ts";

/** Runs would not continue under the code as it is now; the message shows where each differs. */
export class NotReplayable extends Error {
  override readonly name = "NotReplayable";
}

/**
 * Replays histories against workflow code.
 *
 * @param path module of the workflows.
 * @param runs those of a test.
 * @returns the workflow ids of the runs.
 * @throws NotReplayable
 */
export const replayRuns = async (
  path: string,
  runs: ReadonlyArray<RunToReplay>,
): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = [];
  for await (const replay of replayHistories(await bundleOf(path, "replay"), runs)) {
    if (replay.deterministic) continue;
    const description = describeDifference(replay).map((line) => `  ${line}`);
    lines.push(`${replay.workflowId} (${replay.type}):`, ...description);
  }
  if (lines.length === 0) return runs.map(({ workflowId }) => workflowId);
  throw new NotReplayable(
    ["Runs of this test do not replay: the code differs from their histories.", ...lines].join(
      "\n",
    ),
  );
};

/** Terminates a run, unless it has ended or was never started. @returns whether it was open. */
export const terminate = async (handle: WorkflowHandle): Promise<boolean> => {
  try {
    if (!isOpenStatus((await handle.describe()).status.name)) return false;
    await handle.terminate("The test is over.");
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    return false;
  }
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
        const ended = await terminate(client.workflow.getHandle(workflowId, runId));
        wasOpen ||= ended;
      }
      return wasOpen;
    },
  };
};
