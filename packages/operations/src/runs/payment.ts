import {
  AMENDED_MARK,
  PAYMENT_IDS,
  type PaymentMemo,
  paymentMemoOf,
  readPaymentMemo,
  WORKFLOW,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { readAmendedInput } from "../history/read-execution-history.ts";
import { masked } from "../history/masked.ts";
import { readInput } from "../history/read-input.ts";
import { type BatchContent, readBatchContent } from "./batch-content.ts";

type Run = Pick<
  WorkflowExecutionInfo,
  "memo" | "runId" | "type" | "typedSearchAttributes" | "workflowId"
>;

const isSame = (one: PaymentMemo, other: PaymentMemo | undefined): boolean =>
  one.amount === other?.amount && one.currency === other.currency && one.payee === other.payee;

/**
 * Read what a run moves: by its input, and by what people have amended of it. Its memo says the same, but
 * whoever may start a run can write any. It decides only whether more is read than the first event: where it
 * says the same as the input, and the run has no mark of an amendment, nothing was amended.
 *
 * @param startedWith its input, where that was read before.
 * @returns null for a run that moves nothing, or whose input is not known.
 */
export const readPayment = async (
  temporal: Temporal,
  run: Run,
  startedWith?: unknown,
): Promise<PaymentMemo | null> => {
  const { memo, type, typedSearchAttributes } = run;
  if (type !== WORKFLOW.payout && type !== WORKFLOW.onboardCardholder) return null;
  const before = paymentMemoOf(type, startedWith ?? (await readInput(temporal, run)));
  if (before === undefined) return null;
  const isMarked = typedSearchAttributes.get(PAYMENT_IDS)?.includes(AMENDED_MARK) === true;
  if (!isMarked && isSame(before, readPaymentMemo(memo))) return masked(before);
  const now = paymentMemoOf(type, await readAmendedInput(temporal, run));
  if (now === undefined) return null;
  const { amount, currency } = before;
  return masked(isSame(before, now) ? now : { ...now, before: { amount, currency } });
};

/**
 * Read what a batch pays, as its file has it: by its input, whatever its memo says.
 *
 * @returns null for a run that is no batch.
 */
export const readBatchPayouts = async (
  temporal: Temporal,
  run: Pick<Run, "runId" | "type" | "workflowId">,
): Promise<BatchContent | null> =>
  run.type === WORKFLOW.payoutBatch ? readBatchContent(await readInput(temporal, run)) : null;
