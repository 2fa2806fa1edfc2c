import type { RunToReplay } from "@durable-payments/replay";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";

/** A run, and those that it has started: read from its history, as not every server lists runs. */
const family = async (
  client: Client,
  workflowId: string,
  runId: string | undefined,
): Promise<ReadonlyArray<RunToReplay & { readonly runId: string | undefined }>> => {
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
export class TestRuns {
  readonly #client: () => Client;
  readonly #started: Array<{ readonly workflowId: string; readonly runId: string }> = [];

  constructor(client: () => Client) {
    this.#client = client;
  }

  note(workflowId: string, runId: string): void {
    this.#started.push({ workflowId, runId });
  }

  /** Returns the histories of all runs. */
  async histories(): Promise<ReadonlyArray<RunToReplay & { readonly runId: string | undefined }>> {
    const families = await Promise.all(
      this.#started.map(({ runId, workflowId }) => family(this.#client(), workflowId, runId)),
    );
    return families.flat();
  }

  /**
   * Ends the runs that go on.
   *
   * @returns whether there was one.
   */
  async end(): Promise<boolean> {
    let wasOpen = false;
    for (const { runId, workflowId } of await this.histories()) {
      const handle = this.#client().workflow.getHandle(workflowId, runId);
      try {
        if ((await handle.describe()).status.name !== "RUNNING") continue;
        wasOpen = true;
        await handle.terminate("The test is over.");
      } catch (error) {
        // It has ended meanwhile.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    }
    return wasOpen;
  }
}
