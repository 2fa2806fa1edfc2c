import { isRecord } from "@durable-payments/api-core/values";
import type { Ledger } from "@durable-payments/ledger";
import { accountNumbersOf, textAt, withoutAccounts } from "@durable-payments/protocol";
import { payeeMark } from "@durable-payments/protocol/account";
import { STARTED_BY, type Voucher, VOUCHER } from "@durable-payments/protocol/calls";
import type { Client, Workflow, WorkflowHandleWithStartDetails } from "@temporalio/client";
import { checkName } from "../acting.ts";
import { checkId } from "../input/planned-run.ts";
import { paymentFields } from "../show/run-view.ts";

/** What a run is to pay, for lists, texts and the check of likely duplicates. No account number. */
export interface PaymentOf {
  /** Decimal string in units of `currency`. */
  readonly amount: string;
  readonly currency: string;
  /** A `beneficiary_id`, or the mark of a beneficiary's account. */
  readonly payee: string | null;
  readonly reference: string | null;
}

/** The one currency of cards. */
const CARD_CURRENCY = "USD";

const amountAt = (value: unknown, field: string): string | undefined => {
  const amount = isRecord(value) ? value[field] : undefined;
  return typeof amount === "number" ? String(amount) : textAt(value, field);
};

/**
 * Reads what a run pays from its input: of `payout` and `onboardCardholder`, and of a user's own workflow whose input
 * has `payout`, or `amount` and `currency`, in the same places.
 *
 * @returns undefined where the input names no money.
 */
export const paymentOf = (input: unknown): PaymentOf | undefined => {
  if (!isRecord(input)) return undefined;
  const limit = amountAt(input["card"], "card_limit");
  if (limit !== undefined) {
    const payee = textAt(input, "card_holder_id") ?? null;
    return { amount: limit, currency: CARD_CURRENCY, payee, reference: null };
  }
  const payout = isRecord(input["payout"]) ? input["payout"] : input;
  const [amount, currency] = [amountAt(payout, "amount"), textAt(payout, "currency")];
  if (amount === undefined || currency === undefined) return undefined;
  const { beneficiary } = input;
  const reference = textAt(payout, "payout_reference");
  return {
    amount,
    currency: currency.toUpperCase(),
    payee: textAt(input, "beneficiary_id") ?? payeeMark(beneficiary) ?? null,
    reference:
      reference === undefined ? null : withoutAccounts(reference, accountNumbersOf(beneficiary)),
  };
};

/** Returns one line for Temporal's Web UI: `EUR 250.00, Invoice 17`. */
export const summaryOf = (payment: PaymentOf | undefined, workflowType: string): string => {
  if (payment === undefined) return workflowType;
  const { amount, currency, reference } = payment;
  return `${currency} ${amount}${reference === null ? "" : `, ${reference}`}`.slice(0, 200);
};

/** Returns details for Temporal's Web UI: who started the run, and where to read on. */
const detailsOf = (workflowId: string, startedBy: string): string =>
  [
    `Started by ${startedBy}.`,
    "State, decisions and next steps, in a terminal:",
    `    starter show ${workflowId}`,
  ].join("\n\n");

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
  const { account, args, id, ledger, startedBy, taskQueue = "payments" } = options;
  checkId(id);
  checkName(startedBy, "startedBy");
  const type = typeof workflowType === "string" ? workflowType : workflowType.name;
  const payment = paymentOf(args[0]);
  // First, so that a run whose start is lost with Temporal's database is missed by somebody.
  await ledger?.noteRun({
    account: account ?? null,
    workflowId: id,
    runId: null,
    type,
    startedBy,
    batch: null,
    batchRow: null,
    ...paymentFields(payment),
  });
  return client.workflow.start<W>(type, {
    workflowId: id,
    taskQueue,
    // The workflow's own parameters, which TypeScript cannot tell from those of a workflow without any.
    args: args as Parameters<W> & [unknown, ...Array<unknown>],
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    workflowIdConflictPolicy: "FAIL",
    memo: { [STARTED_BY]: startedBy, ...firstVoucher(id, Date.now()) },
    staticSummary: summaryOf(payment, type),
    staticDetails: detailsOf(id, startedBy),
  });
};
