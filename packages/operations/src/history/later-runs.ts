import { type RunRelation, RunRelations } from "@durable-payments/activities/run-relation";
import { runsOfIdQuery } from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";

/** A run of a workflow id that began after another one, and how it stands to that. */
interface LaterRun {
  readonly runId: string;
  readonly relation: RunRelation;
}

/**
 * Read which runs of its workflow id began after a run. Temporal lists a new run after about a second: the latest is
 * known at once.
 *
 * @returns the runs; none where it is the latest.
 */
export const readLaterRuns = async (
  { client }: Temporal,
  { runId, startTime, workflowId }: WorkflowExecutionDescription,
): Promise<ReadonlyArray<LaterRun>> => {
  const { workflow } = client;
  const latest = await workflow.getHandle(workflowId).describe();
  if (latest.runId === runId) return [];
  const later = new Set([latest.runId]);
  for await (const other of workflow.list({ query: runsOfIdQuery(workflowId) })) {
    if (other.workflowId === workflowId && other.startTime > startTime) later.add(other.runId);
  }
  const relations = new RunRelations(client);
  const own = { workflowId, runId };
  return Promise.all(
    [...later].map(async (other) => ({
      runId: other,
      relation: await relations.relate(own, { workflowId, runId: other }),
    })),
  );
};
