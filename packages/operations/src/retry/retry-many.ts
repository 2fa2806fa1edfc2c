import { queryText, queryTexts } from "@durable-payments/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import type { Operations } from "../connection/operations.ts";
import { isOperationError } from "../errors.ts";
import type { RunOfId } from "./continue-run.ts";
import type { RetryPlan } from "./plan.ts";
import { planRetryOf, retryPayment, type RetryOptions } from "./retry.ts";

/** Which failed runs are retried. */
export interface ManyFilter {
  /** Closed since. */
  readonly since?: Date | undefined;
  readonly type?: string | undefined;
  /** Runs of this batch only. */
  readonly batch?: string | undefined;
}

/** What becomes of one of many. */
export interface OneOfMany extends RunOfId {
  /** How it is, or would be, retried; `look`: it was open, and was only asked to look again. */
  readonly way: RetryPlan["way"] | undefined;
  /** Set where it is not. */
  readonly whyNot: string | undefined;
}

const MOST = 10_000;

/** Finds the failed runs: the latest of each workflow id, by Temporal's visibility. */
const findFailed = async (
  { client, ledger }: Operations,
  { batch, since, type }: ManyFilter,
): Promise<ReadonlyArray<RunOfId>> => {
  const query = [
    `ExecutionStatus IN ${queryTexts(["Failed", "TimedOut", "Terminated", "Canceled"])}`,
    ...(since === undefined ? [] : [`CloseTime >= ${queryText(since.toISOString())}`]),
    ...(type === undefined ? [] : [`WorkflowType = ${queryText(type)}`]),
  ].join(" AND ");
  const ofBatch =
    batch === undefined
      ? undefined
      : new Set((await ledger.runs({ batch })).map(({ workflowId }) => workflowId));
  const found = new Map<string, RunOfId>();
  for await (const { runId, workflowId } of client.workflow.list({ query, pageSize: 1_000 })) {
    if (found.has(workflowId) || ofBatch?.has(workflowId) === false) continue;
    found.set(workflowId, { workflowId, runId });
    if (found.size === MOST) break;
  }
  return [...found.values()];
};

const one = async (
  run: RunOfId,
  act: () => Promise<{ readonly plan: RetryPlan }>,
): Promise<OneOfMany> => {
  try {
    const { plan } = await act();
    return { ...run, way: plan.way, whyNot: undefined };
  } catch (error) {
    if (!isOperationError(error)) throw error;
    return { ...run, way: undefined, whyNot: error.message };
  }
};

/**
 * Plans the retry of all runs that failed. Nothing is changed; what cannot help is named with its reason.
 *
 * @param options who retries; amendment and overrule are for single runs.
 */
export const planMany = async (
  operations: Operations,
  filter: ManyFilter,
  options: Pick<RetryOptions, "by" | "how" | "reason">,
): Promise<ReadonlyArray<OneOfMany>> => {
  const planned: Array<OneOfMany> = [];
  for (const run of await findFailed(operations, filter)) {
    const given = { ...options, ifRun: run.runId };
    planned.push(await one(run, () => planRetryOf(operations, run.workflowId, given)));
  }
  return planned;
};

/**
 * Retries the runs of a plan, at most so many a second; a run that was retried since is left alone.
 *
 * @param rate runs a second.
 */
export const retryMany = async (
  operations: Operations,
  planned: ReadonlyArray<OneOfMany>,
  options: Pick<RetryOptions, "by" | "how" | "reason">,
  rate = 5,
): Promise<ReadonlyArray<OneOfMany>> => {
  const done: Array<OneOfMany> = [];
  const begun = Date.now();
  for (const run of planned.filter(({ whyNot }) => whyNot === undefined)) {
    await sleep(Math.max(0, begun + (done.length * 1_000) / rate - Date.now()));
    const given = { ...options, ifRun: run.runId };
    done.push(await one(run, () => retryPayment(operations, run.workflowId, given)));
  }
  return done;
};
