import { isRecord } from "@durable-payments/api-core/values";
import {
  type ApprovalRequest,
  askingStages,
  type HumanTask,
  PAYMENT_STAGE,
  type PaymentMemo,
  queryTexts,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import type { Temporal } from "../connection/temporal.ts";
import type { Unanswered } from "../connection/workers.ts";
import { orNull } from "../runs/or-null.ts";
import { readPayment } from "../runs/payment.ts";
import { askProgress, Questions } from "../runs/progress.ts";

/** A run that waits for a person. */
export interface WaitingRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly state: "attention";
  readonly startedAt: string;
  /** What it moves, as it is sent now; null for a run of which that is not known. */
  readonly payment: PaymentMemo | null;
  /** What is asked; null where the run could not be asked, or was answered meanwhile. */
  readonly attention: HumanTask | null;
  /** The payment that waits for a second person. */
  readonly approval?: ApprovalRequest;
  /** Why it could not be asked. */
  readonly noProgress?: Unanswered;
}

const WAITING = `${PAYMENT_STAGE.name} IN ${queryTexts(askingStages)} AND ExecutionStatus = "Running"`;

const ASKED_AT_ONCE = 8;
const QUEUES_AT_ONCE = 32;

/**
 * Check whether what a run shows is a payment that waits for a second person.
 *
 * @param shown the `shown` of its progress.
 * @returns true for an `ApprovalRequest`.
 */
export const isApproval = (shown: unknown): shown is ApprovalRequest =>
  isRecord(shown) && "hash" in shown && "payment" in shown;

/**
 * List the runs that wait for a person, each with its human task or the payment to approve.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns the runs; one that cannot be asked now is listed with the reason.
 */
export const listWaitingRuns = async (temporal: Temporal): Promise<ReadonlyArray<WaitingRun>> => {
  const runs: Array<WorkflowExecutionInfo> = [];
  for await (const run of temporal.client.workflow.list({ query: WAITING })) runs.push(run);
  const queues = Map.groupBy(runs, ({ taskQueue }) => taskQueue);
  const questions = new Questions();
  const asked = await Effect.runPromise(
    Effect.forEach(
      // A queue that nobody polls keeps no other one waiting, and least the one that is meant.
      [...queues].toSorted(([queue]) => (queue === temporal.settings.taskQueue ? -1 : 1)),
      ([, ofQueue]) =>
        Effect.forEach(
          ofQueue,
          (run) => Effect.promise(async () => [run, await ask(temporal, run, questions)] as const),
          { concurrency: ASKED_AT_ONCE },
        ),
      { concurrency: QUEUES_AT_ONCE },
    ),
  );
  const waiting = new Map(asked.flat());
  return runs.flatMap((run) => waiting.get(run) ?? []);
};

const ask = async (
  temporal: Temporal,
  found: WorkflowExecutionInfo,
  questions: Questions,
): Promise<WaitingRun> => {
  const { runId, startTime, taskQueue, type, workflowId } = found;
  const asked = await askProgress(temporal, { workflowId, taskQueue }, questions);
  const startedAt = startTime.toISOString();
  const payment = await orNull(readPayment(temporal, found));
  const run = { workflowId, runId, type, state: "attention", startedAt, payment } as const;
  if (asked._tag === "NoAnswer") {
    const { message, next } = asked;
    return { ...run, attention: null, noProgress: { message, ...(next && { next }) } };
  }
  const { attention = null, shown } = asked.progress;
  const { approval } = shown;
  return { ...run, attention, ...(isApproval(approval) && { approval }) };
};
