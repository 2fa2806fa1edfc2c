import type { Ledger } from "@durable-payments/ledger";
import { type Voucher, VOUCHER } from "@durable-payments/protocol/voucher";
import type { Client, Workflow, WorkflowHandleWithStartDetails } from "@temporalio/client";
import { checkName } from "../acting.ts";
import { checkId } from "../input/planned-run.ts";
import { detailsOf, type PaymentOf, paymentOf, summaryOf } from "./payment-of.ts";

/** How a payment is started. */
export interface StartPaymentOptions<W extends Workflow> {
  /** The business key, which becomes the workflow id: `invoice-17`. */
  readonly id: string;
  /** Who starts it, and so cannot approve it. */
  readonly startedBy: string;
  readonly args: Parameters<W>;
  /** Default `payments`. */
  readonly taskQueue?: string;
  /** Records the run before it starts, so that it is known even where Temporal's database is restored to an earlier state. */
  readonly ledger?: Ledger;
  /** Hash of the account that pays, where it is known. */
  readonly account?: string;
  /** What it pays; default: read from the first argument, where it is one of `payout` or like it. */
  readonly payment?: PaymentOf;
  readonly memo?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the memo of a run that has never run before under its id: its first send need not be reconciled.
 *
 * @param now milliseconds since 1970; the run has to start within 10 s of it.
 */
export const firstVoucher = (
  workflowId: string,
  now: number,
): Readonly<Record<string, Voucher>> => ({
  [VOUCHER]: { workflowId, at: now, is: "first" },
});

/**
 * Starts a payment workflow once: an id that Temporal knows, running or ended, is refused.
 *
 * @param client Temporal's client.
 * @param workflowType the workflow, or its name.
 * @param options id, who starts it, arguments.
 * @returns the handle of the run.
 * @throws WorkflowExecutionAlreadyStartedError where the id is known; InvalidInput where id or name are not valid.
 * @example
 * ```ts
 * const run = await startPayment<typeof payOrder>(client, "payOrder", {
 *   id: "order-17",
 *   startedBy: "ada",
 *   args: [order],
 * });
 * ```
 */
export const startPayment = async <W extends Workflow>(
  client: Client,
  workflowType: string | W,
  options: StartPaymentOptions<W>,
): Promise<WorkflowHandleWithStartDetails<W>> => {
  const { account, args, id, ledger, memo, startedBy, taskQueue = "payments" } = options;
  checkId(id);
  checkName(startedBy, "startedBy");
  const type = typeof workflowType === "string" ? workflowType : workflowType.name;
  const payment = options.payment ?? paymentOf(args[0]);
  // First, so that a run whose start is lost with Temporal's database is missed by somebody.
  await ledger?.noteRun({
    account: account ?? null,
    workflowId: id,
    runId: null,
    type,
    startedBy,
    batch: null,
    batchRow: null,
    amount: payment?.amount ?? null,
    currency: payment?.currency ?? null,
    payee: payment?.payee ?? null,
    reference: payment?.reference ?? null,
  });
  return client.workflow.start<W>(type, {
    workflowId: id,
    taskQueue,
    // The workflow's own parameters, which TypeScript cannot tell from those of a workflow without any.
    args: args as Parameters<W> & [unknown, ...Array<unknown>],
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    workflowIdConflictPolicy: "FAIL",
    memo: { ...memo, startedBy, ...firstVoucher(id, Date.now()) },
    staticSummary: summaryOf(payment, type),
    staticDetails: detailsOf(id, startedBy),
  });
};
