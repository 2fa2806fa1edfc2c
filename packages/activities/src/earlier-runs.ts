import { PAYMENT_ACCOUNT, runsOfIdQuery, temporalReason } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import type { RunExecution } from "./read-history.ts";
import { ANSWERED_WITHIN_MS } from "./run-state.ts";

/** Most runs of a workflow id whose histories are read, the latest first. */
const MOST_HISTORIES = 20;

/** Runs of which the answer is kept: those that send at about the same time. */
const MOST_KEPT = 10_000;

/**
 * As the server says it that skips time in tests, and has no visibility. UNIMPLEMENTED in other words comes from what
 * answers in the place of a server, such as a proxy: that decides nothing.
 */
const NO_LISTS = /^Method temporal\.\S+\/ListWorkflowExecutions is unimplemented$/;

const hasNoLists = (error: unknown): boolean => NO_LISTS.test(temporalReason(error));

/**
 * List the latest runs of a workflow id. Lists lag: what has begun just now may be in none yet.
 *
 * @param account leaves out runs of another account than that, which another journal knows: they pay elsewhere.
 * @returns their run ids.
 */
export const listRunsOf = async (
  client: Client,
  workflowId: string,
  account?: string,
): Promise<ReadonlyArray<string>> => {
  const runs: Array<string> = [];
  for await (const run of client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    const of = account === undefined ? undefined : run.typedSearchAttributes.get(PAYMENT_ACCOUNT);
    if (run.workflowId === workflowId && (of ?? account) === account) runs.push(run.runId);
    if (runs.length >= MOST_HISTORIES) break;
  }
  return runs;
};

/** Read which other runs the workflow id of the current activity has had. */
export type ReadEarlierRuns = () => Promise<ReadonlyArray<RunExecution>>;

const listOthers = async (
  client: Client,
  { runId, workflowId }: RunExecution,
  account: string,
): Promise<ReadonlyArray<RunExecution>> => {
  try {
    const runs = await client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      listRunsOf(client, workflowId, account),
    );
    return runs.filter((other) => other !== runId).map((other) => ({ workflowId, runId: other }));
  } catch (error) {
    if (hasNoLists(error)) return [];
    throw error;
  }
};

/**
 * Read them from Temporal's visibility.
 *
 * @param account hash of the account that the worker works for.
 * @returns a reader that asks the server once for each run.
 */
export const makeEarlierRunsReader = (account: () => Promise<string>): ReadEarlierRuns => {
  const known = new Map<string, Promise<ReadonlyArray<RunExecution>>>();
  return async () => {
    const { client, info } = Context.current();
    const { workflowExecution: own } = info;
    if (own === undefined) return [];
    const asked = known.get(own.runId);
    if (asked !== undefined) return await asked;
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= MOST_KEPT) known.delete(oldest);
    const listed = account().then((hash) => listOthers(client, own, hash));
    known.set(own.runId, listed);
    try {
      return await listed;
    } catch (error) {
      known.delete(own.runId);
      throw error;
    }
  };
};
