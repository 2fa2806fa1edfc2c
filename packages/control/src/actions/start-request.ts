import { cleanTexts, isRecord, lookUp } from "@durable-payments/client/values";
import {
  type Decision,
  type Ledger,
  type NewRun,
  PURPOSES,
  type StartFacts,
  whyNobody,
} from "@durable-payments/ledger";
import { contentHash, requestTerms, type RunMemo, textAt } from "@durable-payments/protocol";
import { VOUCHER } from "@durable-payments/protocol/calls";
import * as Struct from "effect/Struct";
import type { Client, Workflow, WorkflowStartOptions } from "@temporalio/client";
import { invalidInput } from "../errors.ts";
import { findRun } from "../facts/connection/temporal.ts";
import { readArguments } from "../facts/run-input.ts";
import { type Check, check, isList, isText } from "../rules/filter.ts";
import { checkId } from "../rules/input.ts";
import {
  otherCurrencyOf,
  type PaymentOf,
  paymentOf,
  plannedFields,
  summaryOf,
} from "../rules/payment.ts";
import { checkName } from "./decide/record.ts";
import { otherRun } from "./forgotten.ts";

/**
 * Options of Temporal's start that leave a payment as safe as it is. Fields of `memo` that begin with `durable-payments/` are
 * refused. `retry` repeats a failed run, after any failure that the policy does not exclude. Each repetition continues the
 * run, so each of its payouts, cardholders and cards needs a `key`: without one, the workflow task fails and nothing is sent.
 *
 * The other options are not taken:
 *
 * - `workflowIdReusePolicy`, `workflowIdConflictPolicy`: a known id is refused, because a second run of it would vouch for
 *   itself as the first. `retryPayment` starts a failed run again, once it has compared it with the ledger.
 * - `cronSchedule`: its runs repeat the payment, as those of a Schedule do, which can be paused and has a log.
 * - `staticSummary`, `staticDetails`: they show the payment.
 * - `versioningOverride`, `requestEagerStart`: a retry does not keep them.
 */
type TemporalOptions = Pick<WorkflowStartOptions, (typeof OF_TEMPORAL)[number]>;

/** Temporal's own options that the start of a payment takes. */
const OF_TEMPORAL = [
  "memo",
  "priority",
  "retry",
  "startDelay",
  "typedSearchAttributes",
  "workflowExecutionTimeout",
  "workflowRunTimeout",
  "workflowTaskTimeout",
] as const satisfies ReadonlyArray<keyof WorkflowStartOptions>;

const OF_PAYMENT = ["account", "how", "ledger", "notDuplicate", "startedBy"] as const;

const OPTIONS: ReadonlySet<string> = new Set<keyof StartAtOptions<Workflow>>([
  ...OF_TEMPORAL,
  ...OF_PAYMENT,
  "args",
  "taskQueue",
  "workflowId",
]);

export const NOTHING = "Nothing was started.";

/** How a run is started. */
export interface StartAtOptions<W extends Workflow> extends TemporalOptions {
  readonly workflowId: string;
  /** The person who starts it, and cannot approve it. Without `ledger`, only Temporal's Web UI shows the name. */
  readonly startedBy: string;
  readonly args: Parameters<W>;
  /** Default `payments`. */
  readonly taskQueue?: string;
  /**
   * Records who started the run, once Temporal has taken it; looks for likely duplicates before. Without it, nobody can
   * approve the run: if it needs approval, start it again with the same input and the ledger.
   */
  readonly ledger?: Ledger;
  /** Hash of the account that pays, if it is known. */
  readonly account?: string;
  /** The reason why it is another payment, although an earlier one looks the same: a person has checked it. */
  readonly notDuplicate?: string | undefined;
  /** How the person was identified. */
  readonly how?: string | undefined;
}

const isWorkflow: Check = (value) =>
  typeof value === "function" ? isText(value.name) : isText(value);

/** Checks the workflow and its arguments. @throws InvalidInput */
export const checkWorkflow = (workflow: unknown, args: unknown = null): void =>
  check(
    "start",
    { workflow: isWorkflow, args: isList },
    { workflow: workflow ?? null, args },
    NOTHING,
  );

export const typeOf = (workflowType: string | Workflow): string =>
  typeof workflowType === "string" ? workflowType : workflowType.name;

/** Returns the terms of the payment of a built-in workflow, as its worker will send it. */
const termsOf = (type: string, input: unknown): string | undefined => {
  const operation = lookUp(PURPOSES, type);
  const { card, payout } = isRecord(input) ? cleanTexts(input) : {};
  if (operation === "createPayout" && isRecord(payout)) return requestTerms(operation, payout);
  if (operation !== "createCard" || !isRecord(card)) return undefined;
  const { card_name: _, ...ordered } = card;
  return requestTerms(operation, ordered);
};

type StartedRun = Pick<NewRun, "account" | "batch" | "batchRow" | "type" | "workflowId">;

/** Returns the payment that a start or an amendment of a built-in workflow names: nothing else is sent under its id. */
export const paidBy = (
  type: string,
  input: unknown,
  payment: PaymentOf | undefined,
): Pick<StartFacts, "otherCurrency" | "payee" | "terms"> => {
  const terms = termsOf(type, input);
  if (terms === undefined) return {};
  const otherCurrency = otherCurrencyOf(input);
  return {
    terms,
    ...(payment?.payee && { payee: payment.payee }),
    ...(otherCurrency !== undefined && { otherCurrency }),
  };
};

const contentOf = (args: ReadonlyArray<unknown>): string => {
  // As Temporal has them: a date is a text there.
  const plain = JSON.parse(JSON.stringify(args)) as ReadonlyArray<unknown>;
  return contentHash(plain.length === 1 ? plain[0] : plain);
};

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
      ...plannedFields(payment),
    },
    { by, how, value },
  ];
};

/** Records who starts a run, if there is a ledger. */
export const recordStart = async <W extends Workflow>(
  type: string,
  firstRunId: string,
  {
    account,
    args,
    how = "program",
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

/** Whether a run has the type and the arguments of a start. */
export const isSame = async <W extends Workflow>(
  client: Client,
  run: { readonly type: string; readonly runId: string },
  type: string,
  { args, workflowId }: StartAtOptions<W>,
): Promise<boolean> => {
  if (run.type !== type) return false;
  const reading = { client, connection: client };
  return (
    contentOf(await readArguments(reading, { workflowId, runId: run.runId })) === contentOf(args)
  );
};

/** Whether the ledger lacks the start of a run, so that nobody could approve it. */
const isUnrecorded = async (
  ledger: Ledger,
  workflowId: string,
  { firstRunId }: { readonly firstRunId: string },
): Promise<boolean> => {
  const decisions = await ledger.decisionsOf(workflowId);
  return (
    whyNobody({ id: workflowId, firstRunId }, { workflowId, step: "" }, decisions) !== undefined
  );
};

/**
 * Refuses a start whose id belongs to a run of another type or input; records it as {@link recordLost} does if it is the same.
 *
 * @throws NotAllowed.
 */
export const refuseOther = async <W extends Workflow>(
  client: Client,
  type: string,
  options: StartAtOptions<W>,
): Promise<void> => {
  const { ledger, workflowId } = options;
  const run = await findRun(client, workflowId);
  if (run === undefined) return;
  if (!(await isSame(client, run, type, options)))
    throw await otherRun(ledger, workflowId, type, run.type);
  if (ledger && (await isUnrecorded(ledger, workflowId, run)))
    await recordStart(type, run.firstRunId, options);
};

/**
 * Records a start that the ledger lacks although Temporal has its run: the program that started it was interrupted, the run
 * was started in another way, or the ledger was restored. Without it nobody could approve the run. Only the same type and
 * arguments make a person the starter.
 */
export const recordLost = async <W extends Workflow>(
  client: Client,
  type: string,
  options: StartAtOptions<W>,
): Promise<void> => {
  const { ledger, workflowId } = options;
  const run = ledger && (await findRun(client, workflowId));
  if (ledger === undefined || run === undefined) return;
  if ((await isUnrecorded(ledger, workflowId, run)) && (await isSame(client, run, type, options)))
    await recordStart(type, run.firstRunId, options);
};

const OWN_MEMO = "durable-payments/";

/** Makes what Temporal is asked for: the same for each way to start a run. */
export const askedOf = <W extends Workflow>(
  now: number,
  type: string,
  options: StartAtOptions<W>,
  payment: PaymentOf | undefined,
) => {
  const { memo = {}, startedBy, taskQueue = "payments" } = options;
  const workflowId = checkId(options.workflowId);
  checkName(startedBy, "startedBy");
  // The compiler does not see every call: with cronSchedule, Temporal would repeat the payment.
  const unknown = Object.keys(options).find((option) => !OPTIONS.has(option));
  if (unknown !== undefined)
    throw invalidInput(`A payment is not started with the option ${unknown}. Nothing was started.`);
  const reserved = Object.keys(memo).filter((field) => field.startsWith(OWN_MEMO));
  if (reserved.length > 0)
    throw invalidInput(
      `The memo has ${reserved.join(", ")}: fields that begin with ${OWN_MEMO} are reserved. Rename them.`,
    );
  return {
    ...Struct.omit(options, OF_PAYMENT),
    workflowId,
    taskQueue,
    // TypeScript cannot distinguish these parameters from those of a workflow without any.
    args: options.args as Parameters<W> & [unknown, ...Array<unknown>],
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    workflowIdConflictPolicy: "FAIL",
    memo: { ...memo, [VOUCHER]: { workflowId, at: now, is: "first" } } satisfies RunMemo,
    staticSummary: summaryOf(payment, type),
    staticDetails: `Started by ${startedBy}.\n\nState, decisions and next steps, in a terminal:\n\n    durable-payments show ${workflowId}`,
  } as const;
};
