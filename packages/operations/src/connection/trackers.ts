import { accountOfTracker, queryText, WORKFLOW } from "@durable-payments/protocol";
import { ServiceError } from "@temporalio/client";
import type { Temporal } from "./temporal.ts";

/** How long is waited for visibility, which can be done without. The client may retry for a second more. */
const VISIBILITY_WITHIN_MS = 1_000;

/** Find the ids of the trackers that run on the task queue; none where visibility does not say which. */
export const findTrackers = async ({
  client,
  settings,
}: Temporal): Promise<ReadonlyArray<string>> => {
  const query = `WorkflowType = ${queryText(WORKFLOW.tracker)} AND ExecutionStatus = "Running" AND TaskQueue = ${queryText(settings.taskQueue)}`;
  try {
    return await client.withDeadline(Date.now() + VISIBILITY_WITHIN_MS, async () => {
      const found: Array<string> = [];
      for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
      return found;
    });
  } catch (error) {
    // Temporal takes a start without its visibility; where Temporal itself is down, the start says so.
    if (error instanceof ServiceError) return [];
    throw error;
  }
};

/**
 * Find the account of a name that the workers of the task queue work for, as a hash, by its tracker; undefined where
 * none is found, or several, or visibility does not answer: then the run's first worker decides it.
 *
 * @param name of the account; undefined for the one without a name.
 */
export const accountOfWorkers = async (
  temporal: Temporal,
  name: string | undefined,
): Promise<string | undefined> => {
  const accounts = (await findTrackers(temporal)).map(accountOfTracker);
  const [account, ...others] = accounts.filter((tracked) => tracked?.name === name);
  return others.length > 0 ? undefined : account?.hash;
};
