import { cleanTexts, isRecord } from "@durable-payments/client/values";
import {
  type Decision,
  type Ledger,
  type NewRun,
  type StartFacts,
  whyNobody,
} from "@durable-payments/ledger";
import { requestTerms, type RunMemo, textAt, WORKFLOW } from "@durable-payments/protocol";
import { VOUCHER } from "@durable-payments/protocol/calls";
import {
  type Client,
  type Workflow,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithStartDetails,
} from "@temporalio/client";
import { accountNamed, type Operations } from "../facts/connection/operations.ts";
import { changing } from "../facts/connection/temporal-errors.ts";
import { findRun } from "../facts/connection/temporal.ts";
import { checkName } from "./decide/record.ts";
import { checkReason, refuseDuplicate } from "./duplicates.ts";
import { isForgottenDone, otherInput } from "./forgotten.ts";
import { checkId, contentHash, idOfKey, type PlannedRun } from "../rules/input.ts";
import { readArguments, readInput } from "../facts/run-input.ts";
import { type PaymentOf, paymentOf, summaryOf } from "../rules/payment.ts";
import { paymentFields } from "../rules/run-view.ts";

/** How a run is started. */
interface StartAtOptions<W extends Workflow> {
  readonly workflowId: string;
  /** The person who starts it, and cannot approve it. */
  readonly startedBy: string;
  readonly args: Parameters<W>;
  /** Default `payments`. */
  readonly taskQueue?: string;
  /** Records who started the run, once Temporal has taken it; looks for likely duplicates before. */
  readonly ledger?: Ledger;
  /** Hash of the account that pays, if it is known. */
  readonly account?: string;
  /** The reason why it is another payment, although an earlier one looks the same: a person has checked it. */
  readonly notDuplicate?: string | undefined;
  /** Source of the person's name: `--by`. */
  readonly how?: string;
}

/** How a payment is started. */
export interface StartPaymentOptions<W extends Workflow> extends Omit<
  StartAtOptions<W>,
  "workflowId"
> {
  /** The business key, of which the workflow id is made: `invoice-17` makes `payout/invoice-17`. */
  readonly key: string;
}

const typeOf = (workflowType: string | Workflow): string =>
  typeof workflowType === "string" ? workflowType : workflowType.name;

type StartedRun = Pick<NewRun, "account" | "batch" | "batchRow" | "type" | "workflowId">;

/** Returns the payment that a start or an amendment names: nothing else is sent under its id. */
export const paidBy = (
  type: string,
  input: unknown,
  payment: PaymentOf | undefined,
): Pick<StartFacts, "payee" | "terms"> => {
  const payout = isRecord(input) && type === WORKFLOW.payout ? input["payout"] : undefined;
  return isRecord(payout)
    ? {
        terms: requestTerms("createPayout", cleanTexts(payout)),
        ...(payment?.payee && { payee: payment.payee }),
      }
    : {};
};

const contentOf = (args: ReadonlyArray<unknown>): string =>
  contentHash(args.length === 1 ? args[0] : args);

/** Makes the record of a start, which says what the log of a run permits. */
export const startOf = (
  run: StartedRun,
  args: ReadonlyArray<unknown>,
  payment: PaymentOf | undefined,
  { by, how, ...facts }: Pick<Decision, "by" | "how"> & Partial<StartFacts>,
): Parameters<Ledger["recordStart"]> => {
  const [input] = args;
  const options = isRecord(input) ? input["options"] : undefined;
  const above = textAt(isRecord(options) ? options["approval"] : undefined, "above");
  const value = {
    ...facts,
    ...paidBy(run.type, input, payment),
    type: run.type,
    content: contentOf(args),
    ...(above !== undefined && { approveAbove: above }),
  };
  return [
    {
      ...run,
      runId: null,
      ...paymentFields(payment),
      alias: payment?.alias ?? null,
      shown: payment?.shown ?? null,
    },
    { by, how, value },
  ];
};

/** Records who starts a run, if there is a ledger. */
const recordStart = async <W extends Workflow>(
  type: string,
  firstRunId: string,
  {
    account,
    args,
    how = "startPayment",
    ledger,
    notDuplicate,
    startedBy,
    workflowId,
  }: StartAtOptions<W>,
  payment = paymentOf(args[0], ledger),
): Promise<void> => {
  await ledger?.recordStart(
    ...startOf(
      { account: account ?? null, workflowId, type, batch: null, batchRow: null },
      args,
      payment,
      { by: startedBy, how, firstRunId, ...(notDuplicate !== undefined && { notDuplicate }) },
    ),
  );
};

/**
 * Records a start that the ledger lacks although Temporal has its run: the program that started it was interrupted, the run
 * was started in another way, or the ledger was restored. Without it nobody could approve the run. Only the same type and
 * arguments make a person the starter.
 */
const recordLost = async <W extends Workflow>(
  client: Client,
  type: string,
  options: StartAtOptions<W>,
): Promise<void> => {
  const { args, ledger, workflowId } = options;
  const run = ledger && (await findRun(client, workflowId));
  if (ledger === undefined || run?.type !== type) return;
  const { firstRunId, runId } = run;
  const decisions = await ledger.decisionsOf(workflowId);
  const name = { workflowId, step: "" };
  if (whyNobody({ id: workflowId, firstRunId }, name, decisions) === undefined) return;
  const started = await readArguments({ client, connection: client }, { workflowId, runId });
  if (contentOf(started) === contentOf(args)) await recordStart(type, firstRunId, options);
};

/**
 * Starts a run as {@link startPayment} does, under an id, and without looking for likely duplicates.
 *
 * @param now Temporal's time. Within 10 s of it the run vouches for itself as the first of its id: its first send need
 *   not be reconciled.
 */
export const startPaymentAt = async <W extends Workflow>(
  now: number,
  client: Client,
  workflowType: string | W,
  options: StartAtOptions<W>,
): Promise<WorkflowHandleWithStartDetails<W>> => {
  const { args, startedBy } = options;
  const id = checkId(options.workflowId);
  checkName(startedBy, "startedBy");
  const type = typeOf(workflowType);
  const payment = paymentOf(args[0], options.ledger);
  const starting = client.workflow.start<W>(type, {
    workflowId: id,
    taskQueue: options.taskQueue ?? "payments",
    // TypeScript cannot distinguish these parameters from those of a workflow without any.
    args: args as Parameters<W> & [unknown, ...Array<unknown>],
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    workflowIdConflictPolicy: "FAIL",
    memo: { [VOUCHER]: { workflowId: id, at: now, is: "first" } } satisfies RunMemo,
    staticSummary: summaryOf(payment, type),
    staticDetails: `Started by ${startedBy}.\n\nState, decisions and next steps, in a terminal:\n\n    durable-payments show ${id}`,
  });
  const handle = await starting.catch(async (error: unknown) => {
    if (error instanceof WorkflowExecutionAlreadyStartedError)
      await recordLost(client, type, options);
    throw error;
  });
  // Not before: a start that Temporal refused would make its person the starter of somebody else's run.
  await recordStart(type, handle.firstExecutionRunId, options, payment);
  return handle;
};

/**
 * Starts a payment workflow once: a key that Temporal knows, open or ended, is refused. With a ledger, so is what is
 * likely a duplicate of a payment under another key, unless `notDuplicate` says why it is not. Inputs are compared that
 * have the fields of `payout` or `onboardCardholder`: `payout`, or `amount` and `currency`; `beneficiary_id` or `beneficiary`.
 *
 * @param client Temporal's client.
 * @param workflowType the workflow, or its name.
 * @param options key, starter, arguments.
 * @returns the handle of the run, whose id is `TYPE/KEY`.
 * @throws WorkflowExecutionAlreadyStartedError if the key is known, whose start is then recorded if the ledger lacks it; Refused if it is likely a duplicate; InvalidInput if
 *   the key, name or reason is invalid.
 * @example
 * ```ts
 * const run = await startPayment<typeof payOrder>(client, "payOrder", {
 *   key: "order-17",
 *   startedBy: "ada",
 *   args: [order],
 * });
 * ```
 */
export const startPayment = async <W extends Workflow>(
  client: Client,
  workflowType: string | W,
  { key, ...options }: StartPaymentOptions<W>,
): Promise<WorkflowHandleWithStartDetails<W>> => {
  const { account, ledger, notDuplicate } = options;
  const [input]: ReadonlyArray<unknown> = options.args;
  const workflowId = idOfKey(typeOf(workflowType), key);
  checkReason(notDuplicate);
  if (ledger !== undefined)
    await refuseDuplicate({ client, ledger }, account, { workflowId, input }, notDuplicate);
  return startPaymentAt(Date.now(), client, workflowType, { ...options, workflowId });
};

/** How a planned run is started. */
export type StartOptions = Pick<StartAtOptions<Workflow>, "how" | "notDuplicate" | "startedBy">;

/** A new run, or the existing run of the id. */
export interface SubmittedRun {
  readonly workflowId: string;
  /** Null if Temporal has forgotten it. */
  readonly runId: string | null;
  /** Whether this call has started it. */
  readonly isNew: boolean;
  /** Temporal has forgotten the run; the ledger has its writes. */
  readonly isForgotten?: true;
}

/** The run of that id: started with the same input (`options` are how it waits), or forgotten by Temporal alone. */
const existing = async (
  operations: Operations,
  workflowId: string,
  planned: PlannedRun,
): Promise<SubmittedRun | undefined> => {
  const run = await findRun(operations.client, workflowId);
  if (run === undefined)
    return (await isForgottenDone(operations.ledger, workflowId, planned))
      ? { workflowId, runId: null, isNew: false, isForgotten: true }
      : undefined;
  const { runId, type } = run;
  const first = await readInput(operations, { workflowId, runId });
  if (type === planned.workflowType && contentHash(first) === contentHash(planned.input))
    return { workflowId, runId, isNew: false };
  throw otherInput(workflowId, `${type} with another`);
};

/**
 * Checks all that `startRun` refuses. Nothing is started.
 *
 * @returns the run of that id, if there is one; else undefined: it can be started.
 * @throws as `startRun` does.
 */
export const checkStart = async (
  operations: Operations,
  id: string,
  planned: PlannedRun,
  { notDuplicate, startedBy }: StartOptions,
): Promise<SubmittedRun | undefined> => {
  const workflowId = checkId(id);
  checkName(startedBy, "startedBy");
  checkReason(notDuplicate);
  const { contentId, input, workflowType } = planned;
  const account = accountNamed(operations, input.account);
  const known = await existing(operations, workflowId, planned);
  if (known !== undefined) return known;
  await refuseDuplicate(operations, account, { workflowId, input }, notDuplicate, {
    operation: workflowType === WORKFLOW.payout ? "pay" : "onboard",
    // To pay it anyway, the user gives the same id again.
    ...(workflowId !== contentId && { id: workflowId }),
  });
  return undefined;
};

/**
 * Starts a run, or finds the one of that id, running or ended. It can be called again after any failure: an id never
 * pays twice.
 *
 * @param id of the workflow.
 * @param planned result of `planPayout` or `planOnboarding`.
 * @throws Refused if the id belongs to another input, or the payment is likely a duplicate; InvalidInput if the id or
 *   name is invalid; ConnectionFailed with `carriedOut: "unknown"` if Temporal does not answer.
 */
export const startRun = async (
  operations: Operations,
  id: string,
  planned: PlannedRun,
  options: StartOptions,
): Promise<SubmittedRun> => {
  const { client, ledger, taskQueue } = operations;
  const workflowId = checkId(id);
  const known = await checkStart(operations, workflowId, planned, options);
  const account = accountNamed(operations, planned.input.account);
  const args: [PlannedRun["input"]] = [planned.input];
  const starting = { ...options, workflowId, args, taskQueue, ledger, account };
  if (known !== undefined) {
    await recordLost(client, planned.workflowType, starting);
    return known;
  }
  const mayBe = `The run ${workflowId} may have been started`;
  try {
    const { firstExecutionRunId } = await changing(operations, workflowId, mayBe, () =>
      startPaymentAt<(input: PlannedRun["input"]) => Promise<unknown>>(
        Date.now(),
        client,
        planned.workflowType,
        starting,
      ),
    );
    return { workflowId, runId: firstExecutionRunId, isNew: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const other = await existing(operations, workflowId, planned);
    if (other === undefined) throw error;
    return other;
  }
};
