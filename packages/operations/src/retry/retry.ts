import type { Assumptions } from "@durable-payments/api-core";
import { type Decision, endAmong, type NewDecision } from "@durable-payments/ledger";
import { type Acting, actorOf } from "../acting.ts";
import { changing } from "../connection/changing.ts";
import type { Operations } from "../connection/operations.ts";
import { nudge } from "../decide/nudge.ts";
import { refused } from "../errors.ts";
import { type Amendment, amendInput } from "./amend.ts";
import { type FailedRun, readFailedRun, rootOf } from "./failed-run.ts";
import { readInput } from "./first-event.ts";
import { followRow } from "./follow-row.ts";
import { planRetry, type RetryPlan } from "./plan.ts";
import { resetRun } from "./reset-run.ts";
import { startAgain } from "./start-again.ts";

/** How a run is retried. */
export interface RetryOptions extends Acting {
  /** A merge patch of the input. */
  readonly amend?: { readonly patch: unknown; readonly assumptions: Assumptions } | undefined;
  /** Starts a user's own workflow again from its begin, in place of a reset. */
  readonly isRestarted?: boolean;
  /** Overrules a person's end, by name and with a reason. */
  readonly isOverruling?: boolean;
  /** Only if this is the latest run of the id. */
  readonly ifRun?: string | undefined;
}

/** A retry that was planned, and what it needs. */
export interface PlannedRetry {
  readonly plan: RetryPlan;
  readonly failed: FailedRun;
  readonly amendment: Amendment | undefined;
  readonly end: Decision | undefined;
}

/** A run that was retried. */
export interface Retried {
  readonly plan: RetryPlan;
  /** The run that continues; the same where an open run was asked to look. */
  readonly runId: string;
}

/**
 * Reads what a retry would do. Nothing is changed.
 *
 * @param workflowId of the run; a child is retried through its root.
 * @throws NotFound, Refused where a retry cannot help, EndedByPerson, InvalidInput where amendment or name are not valid.
 */
export const planRetryOf = async (
  { client, ledger }: Operations,
  workflowId: string,
  options: RetryOptions,
): Promise<PlannedRetry> => {
  actorOf(options, options.isOverruling === true || options.amend !== undefined);
  const given = await readFailedRun(client, workflowId);
  const root = rootOf(given.run);
  const failed = root === workflowId ? given : await readFailedRun(client, root);
  const { failure, run } = failed;
  if (options.ifRun !== undefined && options.ifRun !== run.runId) {
    throw refused(`A newer run of ${root} exists: ${run.runId}. Nothing was done.`, {
      operation: "show",
      workflowId: root,
    });
  }
  const [rows, decisions] = await Promise.all([ledger.rowsOf(root), ledger.decisionsOf(root)]);
  const end = endAmong(decisions);
  const amendment =
    options.amend &&
    amendInput(
      run.type,
      await readInput(client, { workflowId: root, runId: run.runId }),
      options.amend,
    );
  const plan = planRetry({
    workflowId: root,
    runId: run.runId,
    workflowType: run.type,
    status: run.status.name,
    failure,
    rows,
    end,
    decisions,
    isAmended: amendment !== undefined,
    isRestarted: options.isRestarted === true,
    isOverruled: options.isOverruling === true,
  });
  if (plan.way === "look" && amendment !== undefined) {
    throw refused(`${root} is under way: only a run that has ended is amended. Nothing was done.`);
  }
  return { plan, failed, amendment, end };
};

/**
 * Records who retries, and what they overrule and amend, before Temporal is asked, so that no retry is without. Where
 * Temporal refuses, the decisions hold for the next run of the id: they say what may be sent, and start nothing.
 */
const recordRetry = async (
  { account, ledger }: Operations,
  { amendment, end, plan }: PlannedRetry,
  options: RetryOptions,
): Promise<void> => {
  const [row] = await ledger.rowsOf(plan.workflowId);
  const decision = (kind: NewDecision["kind"], value: NewDecision["value"]): NewDecision => ({
    account: row?.account ?? account,
    workflowId: plan.workflowId,
    step: null,
    kind,
    question: null,
    ...actorOf(options),
    value,
  });
  if (end !== undefined) {
    await ledger.decide(decision("overrule", { end: end.sequence }));
  }
  if (amendment !== undefined) {
    const { fields, hash } = amendment;
    await ledger.decide(decision("amend", { fields, hash }));
  }
  await ledger.decide(decision("retry", { runId: plan.runId, way: plan.way }));
};

/**
 * Retries a run that has failed: its workflow id is started again, or a user's own workflow reset. What is done returns
 * from the ledger, the rest follows. An open run is asked to look again.
 *
 * @param workflowId of the run; a child is retried through its root.
 * @returns the plan that was followed, and the run that continues.
 * @throws as {@link planRetryOf}; ConnectionFailed with `carriedOut: "unknown"` where Temporal does not answer.
 */
export const retryPayment = async (
  operations: Operations,
  workflowId: string,
  options: RetryOptions,
): Promise<Retried> => {
  const { client } = operations;
  const planned = await planRetryOf(operations, workflowId, options);
  const { amendment, failed, plan } = planned;
  const { runId, workflowId: root } = plan;
  if (plan.way === "look") {
    await nudge(client, root);
    return { plan, runId };
  }
  await recordRetry(operations, planned, options);
  const about = {
    mayBe: `The run ${root} may have been retried`,
    next: { operation: "show", workflowId: root },
  } as const;
  const run = { workflowId: root, runId };
  const reason = `${options.reason ?? "retry"} (${options.by})`;
  return changing(operations, about, async () => {
    const wasReset =
      plan.way === "reset"
        ? await resetRun(client, run, { failed: failed.failure?.failed, reason })
        : undefined;
    const continued =
      wasReset ??
      (await startAgain(client, run, {
        versions: plan.versions,
        ...(amendment && { input: { amended: amendment.input } }),
      }));
    await followRow(operations, root, amendment?.input ?? (await readInput(client, run)));
    return { plan, runId: continued };
  });
};
