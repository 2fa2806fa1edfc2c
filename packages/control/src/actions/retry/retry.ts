import { resetRun, retriedPayment, startAgain, whyNotFrom } from "@durable-payments/activities";
import { endAmong, type NewDecision, wasNeverStarted } from "@durable-payments/ledger";
import { randomUUID } from "node:crypto";
import { paidBy } from "../start-request.ts";
import type { Connected } from "../../facts/connection/connections.ts";
import { changing } from "../../facts/connection/temporal-errors.ts";
import { type Acting, actorOf, decisionOn, nudge, ownerOf } from "../decide/record.ts";
import { notFound, refused } from "../../errors.ts";
import { checkReason, retriedDuplicates } from "../duplicates.ts";
import { refuseAboveLimits } from "../limits.ts";
import { type Progress, readFailureOf, readProgress } from "../../facts/progress.ts";
import { noRun, retryOf } from "../../facts/named.ts";
import { readInput } from "../../facts/run-input.ts";
import { paymentOf, plannedFields } from "../../rules/payment.ts";
import {
  amendInput,
  inRepairText,
  planRetry,
  type RetryPlan,
  whyNotAmended,
} from "../../rules/retry-plan.ts";

export { planRepair } from "./repair.ts";
export { startRepair } from "./start-repair.ts";
export type { RetryPlan };

/** How a run is retried. */
export interface RetryOptions extends Acting {
  /** Fields of the input to change, as a merge patch: null removes one. */
  readonly amend?: unknown;
  /** Starts a user's own workflow again from the beginning, instead of a reset. */
  readonly isRestarted?: boolean;
  /** The step from which a user's own workflow continues, instead of the one that failed. */
  readonly from?: string | undefined;
  /** The reason to retry what is likely a duplicate of another payment. */
  readonly notDuplicate?: string | undefined;
  /** Overrides a person's end, by name and with a reason. */
  readonly isOverruling?: boolean;
  /** Only if this is the latest run of the id. */
  readonly ifRun?: string | undefined;
}

/**
 * Returns the plan of a retry. Nothing is changed.
 *
 * @param workflowId of the run; a child is retried through its root.
 * @throws NotFound, NotAllowed if a retry cannot help or an open repair has the run, EndedByPerson, InvalidInput if the amendment or name is invalid.
 */
export const planRetryOf = async (
  connected: Connected,
  workflowId: string,
  options: RetryOptions,
) => {
  const { client, ledger } = connected;
  actorOf(options, options.isOverruling === true || options.amend !== undefined);
  checkReason(options.notDuplicate, "Nothing was done.");
  const read = async (id: string): Promise<Progress> => {
    const found = await readProgress(client, id);
    if (found !== undefined) return found;
    const [run] = await ledger.runs({ workflowIds: [id], limit: 1 });
    const nothing = "Nothing was done.";
    if (run === undefined) throw await noRun(ledger, id, { nothing, ofBatch: retryOf });
    if (wasNeverStarted(run))
      throw refused(
        `${id} was never started, because its file was rejected or cancelled. To pay it, upload a new file with the same key. Nothing was done.`,
        run.batch ?? id,
      );
    throw notFound(
      `Temporal has no run of ${id}, and only Temporal has its input. If it is unfinished, start it again with the same id and input. Nothing was done.`,
    );
  };
  const given = await read(workflowId);
  const root = given.rootId;
  if (options.amend !== undefined && root !== workflowId)
    throw refused(
      `${workflowId} is a child of ${root}, which makes its input: amend the input of ${root}. Nothing was done.`,
      { action: "retry", workflowId: root, isAmended: true },
    );
  const run = root === workflowId ? given : await read(root);
  if (options.ifRun !== undefined && options.ifRun !== run.runId) {
    throw refused(`A newer run of ${root} exists: ${run.runId}. Nothing was done.`, root);
  }
  const [repair, owner, rows, decisions, failure] = await Promise.all([
    ledger.repairOf(root, run.runId),
    ownerOf(connected, root),
    ledger.rowsOf(root),
    ledger.decisionsOf(root),
    readFailureOf(client, root, run),
  ]);
  if (repair !== undefined)
    throw refused(`${inRepairText(root, repair)} Nothing was done.`, repair.id);
  const end = endAmong(decisions);
  const runOf = { workflowId: root, runId: run.runId };
  const amendment =
    options.amend === undefined
      ? undefined
      : amendInput(
          run.type,
          await readInput(connected, runOf),
          options.amend,
          connected.assumptionsOf(owner.account),
        );
  const plan = planRetry({
    ...runOf,
    workflowType: run.type,
    state: run.state,
    failure,
    rows,
    end,
    decisions,
    isAmended: amendment !== undefined,
    isRestarted: options.isRestarted === true,
    isOverruled: options.isOverruling === true,
    from: options.from,
  });
  if (plan.way === "look" && amendment !== undefined) {
    throw refused(`${root} is open: only an ended run can be amended. Nothing was done.`);
  }
  const unreached = options.from && (await whyNotFrom(client, runOf, options.from));
  if (unreached) throw refused(`${unreached} Nothing was done.`, root);
  const why =
    amendment && whyNotAmended({ rows, workflowId: root, workflowType: run.type }, amendment);
  if (why !== undefined) throw why;
  if (amendment?.repriced)
    await refuseAboveLimits(connected, owner.account, amendment.repriced, "Nothing was done.");
  if (plan.way !== "look" && options.notDuplicate === undefined) {
    const [recorded] = await ledger.runs({ workflowIds: [root], limit: 1 });
    const amended = amendment && paymentOf(amendment.input, ledger);
    const planned = amended ? plannedFields(amended) : recorded;
    const payment = planned && retriedPayment(root, rows, planned);
    const like = (await retriedDuplicates(connected, payment ? [payment] : [])).get(root);
    const next = { action: "retry", workflowId: root, needs: "notDuplicate" } as const;
    if (like !== undefined) throw refused(`${like} Nothing was done.`, next);
  }
  return {
    plan,
    failure,
    amendment,
    end,
    owner,
    run,
    pending: new Map([
      [workflowId, given],
      [root, run],
    ]),
  };
};

// Before Temporal is asked, so that no retry is without. Where Temporal refuses, the decisions hold for the next run of
// the id: they say what may be sent, and start nothing.
export const recordRetry = async (
  { ledger }: Pick<Connected, "ledger">,
  { amendment, end, owner, plan, run }: Awaited<ReturnType<typeof planRetryOf>>,
  options: RetryOptions,
) => {
  const decide = (kind: NewDecision["kind"], value: NewDecision["value"]) =>
    ledger.decide(decisionOn(owner, kind, actorOf(options), { value }));
  if (end !== undefined && options.isOverruling === true)
    await decide("overrule", { end: end.sequence });
  const payment = amendment && paymentOf(amendment.input, ledger);
  if (amendment !== undefined) {
    const { changed, hash, input } = amendment;
    await decide("amend", { changed, hash, ...paidBy(run.type, input, payment) });
  }
  const { notDuplicate } = options;
  const { runId, way } = plan;
  if (way !== "look") await decide("retry", { runId, way, ...(notDuplicate && { notDuplicate }) });
  /** Afterwards: an approval counts for the new run as it did for the one that it continues, and its payment is the amended one. */
  return async (firstRunId: string): Promise<void> => {
    await decide("retry", { from: run.firstRunId, firstRunId });
    if (payment !== undefined) await ledger.amendRun(plan.workflowId, plannedFields(payment));
  };
};

/**
 * Makes activities try again that sleep until a later attempt, such as for an hour that the service has asked for. Temporal
 * then plans the attempt by their own policy: within a minute of the last one. A reset of the activity would do it, too, but
 * count its attempts from one: then it vouches that nothing was sent.
 */
const wake = async (
  { options: { identity, namespace }, workflowService }: Connected["client"],
  workflowId: string,
  { pending, runId }: Pick<Progress, "pending" | "runId">,
): Promise<void> => {
  const execution = { workflowId, runId };
  const of = { namespace, identity, execution, restoreOriginal: true };
  for (const { id, nextAttemptAt } of pending)
    if (nextAttemptAt !== null)
      // It may have ended meanwhile, and an older server cannot do this: then it looks at its own time.
      await workflowService.updateActivityOptions({ ...of, id }).catch(() => undefined);
};

/**
 * Retries a failed run: starts its workflow id again, or resets a user's own workflow. Completed steps return from the
 * ledger, and the rest runs. An open run is asked to check again.
 *
 * @param workflowId of the run; a child is retried through its root.
 * @returns the plan that was followed, and the run that continues.
 * @throws as {@link planRetryOf}; ConnectionFailed with `carriedOut: "unknown"` if Temporal does not answer.
 */
export const retryPayment = async (
  connected: Connected,
  workflowId: string,
  options: RetryOptions,
) => {
  const { client } = connected;
  const planned = await planRetryOf(connected, workflowId, options);
  const { amendment, failure, pending, plan } = planned;
  const { runId, workflowId: root } = plan;
  const recordRun = await recordRetry(connected, planned, options);
  const mayBe = `The run ${root} may have been retried`;
  if (plan.way === "look") {
    await changing(connected, root, mayBe, () => nudge(client, root));
    for (const [id, open] of pending) await wake(client, id, open);
    return { plan, amendment, runId };
  }
  const run = { workflowId: root, runId };
  const reason = `${options.reason ?? "retry"} (${options.by})`;
  return changing(connected, root, mayBe, async () => {
    const isReset = plan.way === "reset";
    const { from, versions } = plan;
    const wasReset = isReset ? await resetRun(client, run, { failure, from, reason }) : undefined;
    const continued =
      wasReset ?? (await startAgain(connected, run, versions, amendment, randomUUID()));
    if (continued === undefined)
      throw refused(`${root} was retried by someone else in the meantime. Nothing was done.`, root);
    if (wasReset === undefined) await recordRun(continued);
    return { plan, amendment, runId: continued };
  });
};
