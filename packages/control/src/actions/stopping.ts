/*
 * Stops runs and files: cancel, pause, resume.
 *
 * Only the ledger can stop a payment. A cancelled or terminated run may be started again, and would send. So a stop is a
 * decision on record, which the last check before each send reads; the run in Temporal is cancelled afterwards, and may
 * be unreachable.
 */
import { formatAmount } from "@durable-payments/client/decimal";
import {
  type BatchRowStatus,
  type MoneyState,
  moneyStateOf,
  type NewDecision,
  type Pause,
  type RecordedWrite,
} from "@durable-payments/ledger";
import { atOnce, isNotFound } from "@durable-payments/protocol";
import { WorkflowNotFoundError } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { checkStarting, decideBatch } from "./batch/batch.ts";
import type { Deciding, Connected } from "../facts/connection/connections.ts";
import { type Acting, actorOf, decisionOn, ownerOf } from "./decide/record.ts";
import { refused } from "../errors.ts";
import { endText } from "../facts/history.ts";
import { noRun } from "../facts/named.ts";
import { readProgress } from "../facts/progress.ts";
import { type Money, sumMoney } from "../rules/run-view.ts";

/** How a run is ended. */
export interface CancelOptions extends Acting {
  /** Terminates the run, which then undoes nothing. */
  readonly isForced?: boolean;
}

/** The outcome of a run that a person ended. */
export interface Cancelled {
  readonly decision: NewDecision;
  /** Writes that move money and had succeeded: the stop order does not reverse them. */
  readonly succeeded: ReturnType<typeof succeededAmong>;
  /** `closed`: it had ended before. `unanswered`: Temporal did not answer, or refused; the end still applies, because each send checks it. */
  readonly run: "asked" | "terminated" | "closed" | "unanswered";
  /** Whether there was anything to stop: false if the run had ended before. The stop order then holds for retries only. */
  readonly hasStopped: boolean;
}

/** Returns the writes that succeeded, with what they moved, the ids of their results, and the outcome of a payout. */
const succeededAmong = (rows: ReadonlyArray<RecordedWrite>) =>
  rows.flatMap(({ madeId, request: { amount, currency }, standing, state, step }) =>
    state === "done" && amount !== null ? [{ step, amount, currency, madeId, standing }] : [],
  );

/** Cancels a run with a reason, which `handle.cancel()` does not take. */
const requestCancel = (
  { options, workflowService }: Connected["client"],
  workflowExecution: { readonly workflowId: string; readonly runId: string },
  reason: string,
): Promise<unknown> =>
  workflowService.requestCancelWorkflowExecution({
    namespace: options.namespace,
    identity: options.identity,
    requestId: randomUUID(),
    workflowExecution,
    reason,
  });

const CANCEL_WITHIN_MS = 3_000;

/**
 * Ends a workflow id by a person's decision: nothing more is sent under it, by this run, a retry or a reset. Then the
 * run is cancelled, if Temporal does that. A request in flight completes, and nothing is reversed.
 *
 * @throws NotFound if neither Temporal nor the ledger knows the id; NotAllowed for a child.
 */
export const cancel = async (
  deciding: Deciding,
  workflowId: string,
  { isForced = false, ...acting }: CancelOptions,
): Promise<Cancelled> => {
  const { client, ledger } = deciding;
  const actor = actorOf(acting, true);
  const unanswered = "unanswered" as const;
  const run =
    client === undefined
      ? unanswered
      : await client
          .withDeadline(Date.now() + CANCEL_WITHIN_MS, () => readProgress(client, workflowId))
          // Whatever keeps Temporal from it: each send checks the stop order of the ledger.
          .catch(() => unanswered);
  const [rows, known] = await Promise.all([
    ledger.rowsOf(workflowId),
    ledger.runs({ workflowIds: [workflowId], limit: 1 }),
  ]);
  if (run === undefined && rows.length + known.length === 0) {
    throw await noRun(ledger, workflowId, { nothing: "Nothing was done." });
  }
  if (typeof run === "object" && run.rootId !== workflowId) {
    throw refused(`${workflowId} is a child of ${run.rootId}: cancel that run. Nothing was done.`, {
      action: "cancel",
      workflowId: run.rootId,
    });
  }
  const owner = await ownerOf(deciding, workflowId);
  const decision = decisionOn(owner, "end", actor, { value: { isForced } });
  await ledger.decide(decision);
  const recorded = { decision, succeeded: succeededAmong(await ledger.rowsOf(workflowId)) };
  if (client === undefined || run === unanswered)
    return { ...recorded, run: unanswered, hasStopped: true };
  if (run?.state !== "running") return { ...recorded, run: "closed", hasStopped: false };
  const handle = client.workflow.getHandle(workflowId, run.runId);
  try {
    await client.withDeadline(Date.now() + CANCEL_WITHIN_MS, async () => {
      if (isForced) await handle.terminate(endText(actor));
      else await requestCancel(client, { workflowId, runId: run.runId }, endText(actor));
    });
  } catch (error) {
    // It has ended meanwhile.
    if (error instanceof WorkflowNotFoundError || isNotFound(error))
      return { ...recorded, run: "closed", hasStopped: false };
    return { ...recorded, run: unanswered, hasStopped: true };
  }
  return { ...recorded, run: isForced ? "terminated" : "asked", hasStopped: true };
};

/** Rows of which no run was started. */
const NOT_STARTED: ReadonlySet<BatchRowStatus> = new Set(["notStarted", "rejected", "covered"]);

/** Runs that send nothing more, whatever is retried. */
const OVER: ReadonlySet<BatchRowStatus> = new Set(["succeeded", "returned", "ended"]);

/** Money that was not sent. */
const NOT_SENT: ReadonlySet<MoneyState> = new Set(["planned", "notPaid"]);

/** The outcome of a file that a person has cancelled. */
export interface CancelledBatch {
  /** Rows that had not started, and will not be paid. */
  readonly notStarted: number;
  /** Started rows that were stopped; 0 unless that was asked for. */
  readonly stopped: number;
  /** Started rows that continue. */
  readonly goOn: number;
  /** Runs that Temporal did not cancel: they send nothing more. */
  readonly unanswered: number;
  /** Money that was sent for its rows before, by its outcome. No stop order reverses it. */
  readonly sent: ReadonlyArray<Money[number] & { readonly state: MoneyState }>;
}

/** Runs that are ended at once: each costs some requests, and no run waits for another. */
const ENDED_AT_ONCE = 50;

/**
 * Cancels a batch: its waiting rows are not paid. With `isStarted`, each row that has started gets a stop order, too,
 * whatever its state: also if it is paused, or its outcome is unknown.
 *
 * @throws NotFound if there is no such batch; NotAllowed if it is finished or rejected; InvalidInput if the name or reason is
 *   invalid.
 */
export const cancelBatch = async (
  deciding: Deciding,
  id: string,
  { isStarted = false, ...options }: CancelOptions & { readonly isStarted?: boolean },
): Promise<CancelledBatch> => {
  const { ledger } = deciding;
  const { batch, rejected: notStarted } = await decideBatch(deciding, id, "cancel", options);
  // A run may have several payments.
  const rows = new Map((await ledger.listRows(id)).map((row) => [row.workflowId, row]));
  const going = [...rows.values()].filter(
    ({ status }) => !NOT_STARTED.has(status) && !OVER.has(status),
  );
  const end = (given: Deciding) => (row: { readonly workflowId: string }) =>
    cancel(given, row.workflowId, options);
  const [first, ...others] = isStarted ? going : [];
  const ended = first === undefined ? [] : [await end(deciding)(first)];
  // If Temporal does not answer once, then nothing waits for it again.
  const isSilent = ended.some(({ run }) => run === "unanswered");
  const rest = isSilent ? { ...deciding, client: undefined } : deciding;
  ended.push(...(await atOnce(others, end(rest), ENDED_AT_ONCE)));
  const sums = batch.type === "repair" ? [] : await ledger.sums({ batch: id });
  // The runs of a repair belong to other files, or to none. Those that it has left out are of no concern.
  const counts = batch.type === "repair" ? await ledger.batchCounts(id) : [];
  const retried = counts.filter(({ status }) => !NOT_STARTED.has(status));
  const repaired = [...Map.groupBy(retried, ({ standing }) => moneyStateOf(standing))];
  return {
    notStarted,
    stopped: ended.length,
    goOn: going.length - ended.length,
    unanswered: ended.filter(({ run }) => run === "unanswered").length,
    sent: [
      ...sums.map(({ currency, state, sum }) => ({
        state,
        currency,
        amount: formatAmount(sum, currency),
      })),
      ...repaired.flatMap(([state, of]) => sumMoney(of).map((sum) => ({ ...sum, state }))),
    ].filter(({ state }) => !NOT_SENT.has(state)),
  };
};

/** The scope of a pause: everything, a batch, or a workflow id. */
export interface Paused {
  readonly scope: Pause["scope"];
  /** Empty for everything. */
  readonly of: string;
}

/** Finds what an id names: a batch, or a run; everything if it is undefined. */
const scopeOf = async (
  { ledger }: Pick<Connected, "ledger">,
  of: string | undefined,
): Promise<Paused> => {
  if (of === undefined) return { scope: "all", of: "" };
  if ((await ledger.batch(of)) !== undefined) return { scope: "batch", of };
  const [runs, rows] = await Promise.all([
    ledger.runs({ workflowIds: [of], limit: 1 }),
    ledger.rowsOf(of),
  ]);
  if (runs.length + rows.length > 0) return { scope: "run", of };
  throw await noRun(ledger, of, {
    nothing: "Nothing was done.",
    why: `The ledger has no run or batch ${of}.`,
  });
};

/**
 * Pauses sends: none leaves from now on. Waits, reads and reconciliation continue. Only the ledger is needed.
 *
 * @returns the pause as recorded.
 */
export const pause = async (
  pausing: Pick<Connected, "ledger">,
  of: string | undefined,
  acting: Acting,
): Promise<Pause> => {
  const actor = actorOf(acting, true);
  const { of: id, scope } = await scopeOf(pausing, of);
  const batch = scope === "batch" ? await pausing.ledger.batch(id) : undefined;
  // The runs of a file are paused with it, also if they are retried.
  if (batch?.type === "repair") checkStarting(batch);
  return pausing.ledger.pause(scope, id, actor);
};

/**
 * Resumes sends. The tracker notifies the runs and files that wait for it.
 *
 * @throws NotAllowed if nothing was paused.
 */
export const resume = async (
  pausing: Pick<Connected, "ledger">,
  of: string | undefined,
  acting: Acting,
): Promise<Paused> => {
  const actor = actorOf(acting);
  const paused = await scopeOf(pausing, of);
  if (await pausing.ledger.resume(paused.scope, paused.of, actor)) return paused;
  throw refused(`${of ?? "Everything"} is not paused. Nothing was done.`);
};
