/*
 * Retries the run of one row of a repair.
 *
 * A repair was decided from facts of the ledger, minutes or days ago. Meanwhile a person, or another repair, may have retried
 * the run, and a worker may have been killed in the middle of this. So everything is checked again, and the row names the
 * failed run: Temporal starts the next one once. The decision is recorded before Temporal is asked, so that a later attempt
 * tells its own run from that of somebody else.
 */
import {
  type Batch,
  type FoundBatchRow,
  type Decision,
  endAmong,
  type Ledger,
  type NewDecision,
  type PlannedOfRun,
  type PlannedPayment,
  type WriteRow,
} from "@durable-payments/ledger";
import { findRun } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { isRecord } from "@durable-payments/client/values";
import { resetRun, startAgain } from "./continue-run.ts";
import { planRetry, recordedFailure } from "./plan-retry.ts";

/** Writes that pay, or create a person. */
const PAYING: ReadonlySet<string> = new Set(["createCardholder", "createPayout"]);

/** Returns what a retry of a run pays, or whom it creates; undefined if that is not planned, or was made before. */
export const retriedPayment = (
  workflowId: string,
  rows: ReadonlyArray<Pick<WriteRow, "operation" | "state">>,
  { alias = null, amount, currency, payee, reference }: PlannedOfRun,
): PlannedPayment | undefined => {
  const isMade = rows.some(({ operation, state }) => state === "done" && PAYING.has(operation));
  return isMade || amount === null || currency === null || payee === null
    ? undefined
    : { workflowId, alias, amount, currency, payee, reference };
};

const GONE = "Temporal no longer has its run, and only Temporal has its input.";

/** The person who decided on a repair. */
const repairerOf = ({ createdBy, details }: Pick<Batch, "createdBy" | "details">) => {
  const kept: unknown = JSON.parse(details);
  const { how, notDuplicate, reason } = isRecord(kept) ? kept : {};
  return {
    notDuplicate: typeof notDuplicate === "string" ? notDuplicate : undefined,
    by: createdBy,
    how: typeof how === "string" ? how : "program",
    reason: typeof reason === "string" ? reason : null,
  };
};

/**
 * Retries the run of a row, once: also if it is called again after an interruption.
 *
 * @param input the amended input, if the row has one.
 * @returns why it was left out; undefined if its run continues.
 */
export const retryRow = async (
  { client, ledger }: { readonly client: Client; readonly ledger: Ledger },
  batchId: string,
  { repair, run: failedRun, workflowId }: FoundBatchRow,
  input: unknown,
): Promise<string | undefined> => {
  const [batch, [run], rows, decisions, latest] = await Promise.all([
    ledger.batch(batchId),
    ledger.runs({ workflowIds: [workflowId], limit: 1 }),
    ledger.rowsOf(workflowId),
    ledger.decisionsOf(workflowId),
    findRun(client, workflowId),
  ]);
  if (batch === undefined || run === undefined || failedRun === null || latest === undefined)
    return GONE;
  const { notDuplicate, ...actor } = repairerOf(batch);
  const account = rows[0]?.account ?? run.account ?? batch.account;
  const retries = decisions.filter(
    ({ kind, value }) => kind === "retry" && value["runId"] === failedRun,
  );
  const isDecided = retries.some(({ value }) => value["repair"] === batchId);
  const decide = (kind: NewDecision["kind"], value: NewDecision["value"]) =>
    ledger.decide({ account, workflowId, kind, step: null, question: null, value, ...actor });
  const { amend, from, planned } = repair ?? {};
  const retried = retries.findLast(({ value }) => value["repair"] !== batchId);
  const other = retried?.value["repair"];
  const elsewhere = `It was retried by ${retried?.by ?? "someone else"}${typeof other === "string" ? ` (${other})` : ""} in the meantime.`;
  /** Continues with a new run, unless somebody else has begun it. An approval counts for it as for the one that it continues. */
  const follow = async (firstRunId: string, runId: string): Promise<string | undefined> => {
    const before = (await findRun(client, workflowId, failedRun))?.firstRunId ?? failedRun;
    const begun = decisions.find(({ value }) => value["firstRunId"] === firstRunId);
    // A reset keeps the first run.
    if (before !== firstRunId && begun !== undefined && begun.value["repair"] !== batchId)
      return elsewhere;
    if (before !== firstRunId && begun === undefined)
      await decide("retry", { from: before, firstRunId, repair: batchId });
    if (planned !== undefined) await ledger.amendRun(workflowId, planned);
    await ledger.reopenRun(workflowId, failedRun, runId);
    return undefined;
  };
  if (latest.runId !== failedRun)
    return isDecided ? follow(latest.firstRunId, latest.runId) : elsewhere;
  const failure = recordedFailure(run);
  const plan = planRetry({
    workflowId,
    runId: failedRun,
    workflowType: run.type,
    state: latest.state,
    failure,
    rows,
    end: endAmong(decisions),
    decisions,
    isAmended: amend !== undefined,
    isRestarted: false,
    isOverruled: false,
    from,
  });
  if ("whyNot" in plan) return plan.whyNot;
  if (plan.way === "look") return "Its run is open.";
  const payment =
    isDecided || notDuplicate ? undefined : retriedPayment(workflowId, rows, planned ?? run);
  const [similar = []] = payment ? await ledger.similarPayments(undefined, [payment]) : [];
  // The plan has compared it with what was known then: an equal payment that was unpaid then may be retried, too.
  const since = similar.find(({ at, standing }) => standing !== null || at > batch.createdAt);
  if (since !== undefined)
    return `It is likely a duplicate of ${since.workflowId}, which was paid or started in the meantime.`;
  if (amend !== undefined) {
    const isKnown = ({ kind, value }: Decision) => kind === "amend" && value["repair"] === batchId;
    if (!decisions.some(isKnown)) await decide("amend", { ...amend, repair: batchId });
  }
  const { versions, way } = plan;
  const differs = notDuplicate === undefined ? {} : { notDuplicate };
  if (!isDecided) await decide("retry", { runId: failedRun, way, repair: batchId, ...differs });
  const of = { workflowId, runId: failedRun };
  const reason = `${actor.reason ?? "retry"} (${actor.by}, ${batchId})`;
  const wasReset =
    way === "reset" ? await resetRun(client, of, { failure, from, reason }) : undefined;
  if (wasReset !== undefined) return follow(latest.firstRunId, wasReset);
  if (from !== undefined) return `Its run never reached ${from}.`;
  const amended = amend === undefined ? undefined : { input };
  const reading = { client, connection: client.connection };
  const started = await startAgain(reading, of, versions, amended, `${batchId}-${failedRun}`);
  return started === undefined ? elsewhere : follow(started, started);
};
