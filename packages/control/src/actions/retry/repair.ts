/*
 * Retries failed runs by the hundred: a repair.
 *
 * A loop in a terminal ends with the terminal, and asks Temporal about each run before anything is decided. So a repair is
 * decided from facts of the ledger alone: in seconds, also for ten thousand runs. It is kept there as a batch whose rows are
 * the failed runs. The workflow of batches takes the rows in turn, at a rate, and checks each again: see `retry-row.ts` of
 * the activities. Only an amendment and a chosen step have to read the run at Temporal before.
 */
import {
  planRetry,
  recordedFailure,
  recordLateFailures,
  retriedPayment,
  type RetryPlan,
  whyNotFrom,
} from "@durable-payments/activities";
import { isRecord, lookUp } from "@durable-payments/client/values";
import {
  type BatchRow,
  endAmong,
  type FailedRun,
  type Ledger,
  type RowRepair,
  type RunFilter,
} from "@durable-payments/ledger";
import { atOnce, isNotFound } from "@durable-payments/protocol";
import { hashOf } from "@durable-payments/protocol/account";
import type { RepairRow } from "@durable-payments/protocol/calls";
import * as Struct from "effect/Struct";
import type { Connected, Deciding } from "../../facts/connection/connections.ts";
import { namesOf, readNames } from "../../facts/payees.ts";
import { readInput } from "../../facts/run-input.ts";
import { ControlError, InvalidInput, invalidInput, refused } from "../../errors.ts";
import { paymentOf, plannedFields } from "../../rules/payment.ts";
import { amendInput, inRepairText, whyNotAmended } from "../../rules/retry-plan.ts";
import {
  type ListedPayment,
  type Money,
  type PaymentView,
  sumMoney,
} from "../../rules/run-view.ts";
import { checkReason, retriedDuplicates } from "../duplicates.ts";
import { refuseAboveLimits } from "../limits.ts";
import { type Acting, actorOf } from "../decide/record.ts";
import { checkBatchOptions, needSecond } from "../batch/chunks.ts";
import { paidBy } from "../start-request.ts";

/** How the runs of a repair are retried. */
export interface RepairOptions extends Acting {
  /** The step from which users' own workflows continue; by default the one that failed. */
  readonly from?: string | undefined;
  /** A merge patch of the input of every run. */
  readonly amend?: unknown;
  /** A merge patch for each of some runs, by workflow id: the others are retried as they are. */
  readonly amendEach?: Readonly<Record<string, unknown>> | undefined;
  /** The reason to retry what is likely a duplicate of another payment: recorded, and shown to the approver. */
  readonly notDuplicate?: string | undefined;
  /** A total of amended payments above this, in any currency, waits for a second person: a decimal string. */
  readonly approveAbove?: string | undefined;
  /** Most runs that begin in a second, from 1; default 5. */
  readonly rate?: number | undefined;
  /** Most retried runs at a time that neither wait nor have ended, from 1; default 200. */
  readonly window?: number | undefined;
}

/** The retry of one run of a repair. */
export interface PlannedRetry
  extends
    Pick<RetryPlan, "from" | "kept" | "runId" | "way" | "workflowId">,
    Pick<ListedPayment, "amount" | "currency" | "payee" | "payeeAccount" | "payeeName"> {
  readonly type: string;
  /** Steps that may run again. */
  readonly again: ReadonlyArray<string>;
  /** Changed fields of the input, in words. */
  readonly amended: ReadonlyArray<string>;
}

/** Temporal is needed for amendments and a chosen step alone. */
type Reading = Connected | Deciding;

/** The plan of a repair. */
export type RepairPlan = Omit<Awaited<ReturnType<typeof planRepair>>, "rows">;

const MOST_ROWS = 10_000;
const NO_AMOUNT = { amount: null, currency: null };
const READ_AT_ONCE = 50;
/** Most problems of amended inputs that an error names. */
const MOST_FAULTS = 5;

/** A row with what the ledger and the workflow keep of it. */
export interface Repaired {
  readonly run: FailedRun["run"];
  readonly plan: RetryPlan;
  /** Changed fields of the input, in words. */
  readonly changed: ReadonlyArray<string>;
  readonly row: Omit<BatchRow, "number">;
  /** The amended input. */
  readonly input: RepairRow["input"];
  /** The payments of a retry. */
  readonly money: Money;
}

const checkOptions = (options: RepairOptions) => {
  const { amend, amendEach, from } = options;
  const fault = (problem: string) => invalidInput(`${problem} Nothing was done.`);
  if (amend !== undefined && amendEach !== undefined)
    throw fault("Give one amendment for all runs (amend), or one for each (amendEach).");
  if (amend !== undefined && !isRecord(amend))
    throw fault("The amendment (amend) must be an object with the shape of the runs' input.");
  if (from !== undefined && (amend ?? amendEach) !== undefined)
    throw fault("An amended run starts from the beginning: leave out the step (from).");
  checkReason(options.notDuplicate, "Nothing was done.");
  checkBatchOptions(options);
};

const temporalOf = (reading: Reading): Connected => {
  if ("accounts" in reading) return reading;
  throw new Error("Only Temporal has inputs, and the steps of a user's own workflow.");
};

/** Amends the input of a failed run. @throws ControlError if that cannot help. */
const amendRun = async (
  connected: Reading,
  { rows, run: { account, runId, type, workflowId } }: FailedRun,
  patch: unknown,
) => {
  const temporal = temporalOf(connected);
  const input = await readInput(temporal, { workflowId, runId: runId ?? "" });
  const amendment = amendInput(type, input, patch, temporal.assumptionsOf(account ?? undefined));
  const why = whyNotAmended({ rows, workflowId, workflowType: type }, amendment);
  if (why !== undefined) throw why;
  const { changed, hash, input: amended, repriced } = amendment;
  if (repriced) await refuseAboveLimits(connected, account ?? "", repriced, "Nothing was done.");
  // A patch of an object makes an object.
  if (!isRecord(amended)) throw invalidInput(`The input of ${workflowId} is not an object.`);
  const payment = paymentOf(amended, connected.ledger);
  const amend = { changed, hash, ...paidBy(type, amended, payment) };
  const planned = payment && plannedFields(payment);
  return { amended, repair: { amend, ...(planned && { planned }) } satisfies RowRepair };
};

/** The payments that a retry sends: the planned one, until the run of a user's own workflow has made one. */
const unpaidOf = ({ rows, run }: FailedRun, planned: PaymentView) => {
  const moving = rows.filter(
    ({ ownerId, request }) => ownerId === run.workflowId && request.amount !== null,
  );
  const unpaid = moving.filter(({ state }) => state !== "done");
  return planned.amount !== null && unpaid.length === moving.length
    ? [planned]
    : unpaid.map(({ request }) => request);
};

const contentOf = (plans: ReadonlyArray<Repaired | string>): string =>
  hashOf(
    plans.flatMap((plan) =>
      typeof plan === "string"
        ? []
        : [[plan.row.workflowId, plan.row.run, plan.row.terms, plan.row.repair?.from ?? ""]],
    ),
  );

/** Leaves out runs that wait for another repair than this one: two repairs would have two rates, and two approvals. */
const withoutWaiting = (
  found: ReadonlyArray<FailedRun>,
  plans: ReadonlyArray<Repaired | string>,
): ReadonlyArray<Repaired | string> => {
  const content = contentOf(plans);
  return plans.map((plan, at) => {
    const { repair } = found[at] ?? {};
    return typeof plan === "string" || repair === undefined || repair.contentHash === content
      ? plan
      : inRepairText(plan.row.workflowId, repair);
  });
};

/** Leaves out likely duplicates of other payments, and of retries before them: one patch may make many equal. */
const withoutDuplicates = async (
  reading: Reading,
  found: ReadonlyArray<FailedRun>,
  plans: ReadonlyArray<Repaired | string>,
): Promise<ReadonlyArray<Repaired | string>> => {
  const retried = plans.flatMap((plan, at) => {
    const { rows, run } = found[at] ?? {};
    if (typeof plan === "string" || rows === undefined || run === undefined) return [];
    const { input, row } = plan;
    const payment = retriedPayment(row.workflowId, rows, row.repair?.planned ?? run);
    return payment === undefined ? [] : [{ ...payment, isAmended: input !== undefined }];
  });
  const ordered = retried.toSorted((a, b) => Number(a.isAmended) - Number(b.isAmended));
  const like = await retriedDuplicates(reading, ordered);
  return plans.map((plan) =>
    typeof plan === "string" ? plan : (like.get(plan.row.workflowId) ?? plan),
  );
};

const planRow = async (
  connected: Reading,
  found: FailedRun,
  { amend, amendEach, from }: RepairOptions,
): Promise<Repaired | InvalidInput | string> => {
  const { rows, run } = found;
  const { runId, type, workflowId } = run;
  if (runId === null) return `Temporal has no run of ${workflowId}.`;
  const { rootId = workflowId } = rows.find(({ ownerId }) => ownerId === workflowId) ?? {};
  // Alone, it would be another run than the one that its parent starts again, and waits for.
  if (rootId !== workflowId) return `${workflowId} is a child of ${rootId}: retry ${rootId}.`;
  const patch = amendEach === undefined ? amend : lookUp(amendEach, workflowId);
  const decisions = run.isStopped ? await connected.ledger.decisionsOf(workflowId) : [];
  const plan = planRetry({
    workflowId,
    runId,
    workflowType: type,
    state: run.endState ?? "failed",
    failure: recordedFailure(run),
    rows,
    end: endAmong(decisions),
    decisions,
    isAmended: patch !== undefined,
    isRestarted: false,
    isOverruled: false,
    from,
  });
  if ("whyNot" in plan) return plan.whyNot;
  try {
    const of = { workflowId, runId };
    const unreached = from && (await whyNotFrom(temporalOf(connected).client, of, from));
    if (unreached) return unreached;
    const amended = patch === undefined ? undefined : await amendRun(connected, found, patch);
    const planned = amended?.repair.planned ?? run;
    const { payee, reference } = planned;
    const money = sumMoney(unpaidOf(found, planned));
    // A row has one currency.
    const { amount, currency } = money.length === 1 && money[0] ? money[0] : NO_AMOUNT;
    const changed = amended?.repair.amend.changed ?? [];
    return {
      run,
      plan,
      changed,
      row: {
        workflowId,
        amount,
        currency,
        payee,
        reference,
        run: runId,
        fingerprint: hashOf([workflowId, runId]).slice(0, 32),
        terms: amended?.repair.amend.hash ?? "",
        mark: null,
        shown: changed.length === 0 ? "as it was" : changed.join("; "),
        state: "waiting",
        message: null,
        repair: { ...amended?.repair, ...(from !== undefined && { from }) },
      },
      input: amended?.amended,
      money,
    };
  } catch (error) {
    if (error instanceof InvalidInput) return error;
    // A plan does nothing.
    if (error instanceof ControlError) return error.message.replace(/ Nothing was done\.$/, "");
    if (isNotFound(error))
      return `Temporal no longer has the run of ${workflowId}, and only Temporal has its input.`;
    throw error;
  }
};

/** Makes the error for amendments of runs that have not failed, or do not match: earlier, a repair may have retried them all. */
const strangeAmendments = async (ledger: Ledger, ids: ReadonlyArray<string>) => {
  const logs = await atOnce(ids, (id) => ledger.decisionsOf(id), READ_AT_ONCE);
  const repairs = logs.map((decisions) => {
    const { repair } = decisions.findLast(({ kind }) => kind === "retry")?.value ?? {};
    return typeof repair === "string" ? repair : undefined;
  });
  const [first] = repairs;
  const runs = `${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ` and ${ids.length - 5} more` : ""}`;
  if (first !== undefined && !repairs.includes(undefined))
    return refused(
      `These amendments are for runs that ${[...new Set(repairs)].join(", ")} has already retried: ${runs}. Nothing was done.`,
      first,
    );
  return invalidInput(
    `These amendments are for runs that have not failed, or do not match: ${runs}. Nothing was done.`,
    ids.map((field) => ({ field, problem: "has not failed, or does not match" })),
  );
};

/**
 * Plans the retry of all failed runs that match. Nothing is changed. Without amendments and `from`, it needs only the ledger.
 *
 * @throws InvalidInput if an option or an amended input is invalid, or amendments name runs that have not failed; NotAllowed
 *   if a repair has retried them.
 */
export const planRepair = async (connected: Reading, filter: RunFilter, options: RepairOptions) => {
  checkOptions(options);
  actorOf(options, (options.amend ?? options.amendEach) !== undefined);
  if (connected.client !== undefined) await recordLateFailures(connected.client, connected.ledger);
  const found = await connected.ledger.failedRuns(filter, MOST_ROWS + 1);
  const taken = found.slice(0, MOST_ROWS);
  const known = new Set(taken.map(({ run }) => run.workflowId));
  const strange = Object.keys(options.amendEach ?? {}).filter((id) => !known.has(id));
  if (strange.length > 0) throw await strangeAmendments(connected.ledger, strange);
  const planned = await atOnce(taken, (run) => planRow(connected, run, options), READ_AT_ONCE);
  // Nobody meant it: the other runs wait, too, until it is corrected.
  const invalid = planned.flatMap((plan, at) =>
    plan instanceof InvalidInput ? [[taken[at]?.run.workflowId ?? "", plan] as const] : [],
  );
  const faultsOfAll = invalid.flatMap(([id, { faults, message }]) =>
    faults === undefined
      ? [{ field: `${id}:`, problem: message }]
      : faults.map(({ field, problem }) => ({ field: `${id}, ${field}:`, problem })),
  );
  if (invalid.length > 0)
    throw invalidInput(
      `${invalid.length} amended ${invalid.length === 1 ? "input is" : "inputs are"} invalid${faultsOfAll.length > MOST_FAULTS ? `: the first ${MOST_FAULTS} problems, and ${faultsOfAll.length - MOST_FAULTS} more` : ""}. Nothing was done.`,
      faultsOfAll.slice(0, MOST_FAULTS),
    );
  const valid = planned.flatMap((plan) => (plan instanceof InvalidInput ? [] : [plan]));
  const { notDuplicate } = options;
  const plans = withoutWaiting(
    taken,
    notDuplicate === undefined ? await withoutDuplicates(connected, taken, valid) : valid,
  );
  const rows = plans.filter((plan) => typeof plan === "object");
  const amended = rows.filter(({ input }) => input !== undefined);
  const nameOf = await readNames(
    connected.ledger,
    rows.map(({ row }) => row.payee),
    [],
    rows.map(({ run }) => run),
  );
  return {
    /** Names these retries: `repair` makes no other ones. */
    content: contentOf(rows),
    retries: rows.map(({ changed, plan, row, run }): PlannedRetry => ({
      type: run.type,
      ...Struct.pick(plan, ["workflowId", "runId", "way", "kept", "from"]),
      again: plan.again.map(({ step }) => step),
      ...Struct.pick(row, ["amount", "currency", "payee"]),
      ...namesOf(row.repair?.planned?.shown ?? nameOf(row.payee, run.account, run)),
      amended: changed,
    })),
    /** Runs that a retry cannot help, with the reason. */
    notHelped: plans.flatMap((plan, at) =>
      typeof plan === "string"
        ? [{ workflowId: taken[at]?.run.workflowId ?? "", whyNot: plan }]
        : [],
    ),
    /** Sums of their payments by currency. */
    sums: sumMoney(rows.flatMap(({ money }) => money)),
    /** Whether a second person has to approve the sum of the amended payments. */
    needsApproval: await amendmentsNeedSecond(connected.ledger, amended, options.approveAbove),
    /** Whether there are more failed runs than one repair takes. */
    hasMore: found.length > MOST_ROWS,
    rows,
  };
};

/** Whether the sum of the amended payments of an account is above its limit. */
const amendmentsNeedSecond = async (
  ledger: Ledger,
  amended: ReadonlyArray<Repaired>,
  approveAbove: string | undefined,
): Promise<boolean> => {
  for (const [account, of] of Map.groupBy(amended, ({ run }) => run.account ?? "")) {
    // The amended payment, also if an earlier one was made: what is sent then is known by the workflow alone.
    const sums = sumMoney(of.map(({ row }) => row.repair?.planned ?? row));
    if (await needSecond(ledger, account, sums, approveAbove)) return true;
  }
  return false;
};
