import { PERSON_MARK } from "@durable-payments/api-core/values";
import {
  type Ledger,
  reasonProblem,
  type SimilarPayment,
  type WriteState,
} from "@durable-payments/ledger";
import { type RunMemo, WORKFLOW } from "@durable-payments/protocol";
import { STARTED_BY, VOUCHER } from "@durable-payments/protocol/calls";
import {
  type Client,
  type Workflow,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithStartDetails,
} from "@temporalio/client";
import { accountNamed, type Operations } from "../facts/connection/operations.ts";
import { changing } from "../facts/connection/temporal-errors.ts";
import { findRun } from "../facts/connection/temporal.ts";
import { checkName, type Deciding } from "./decide/record.ts";
import { invalidInput, type NextOperation, refused } from "../errors.ts";
import { checkId, contentHash, idOfKey, type PlannedRun } from "../rules/input.ts";
import { readInput } from "../facts/run-input.ts";
import { paymentOf, summaryOf } from "../rules/payment.ts";
import { paymentFields } from "../rules/run-view.ts";

/** Returns details for Temporal's Web UI: the starter of the run, and the command that shows more. */
const detailsOf = (workflowId: string, startedBy: string): string =>
  [
    `Started by ${startedBy}.`,
    "State, decisions and next steps, in a terminal:",
    `    starter show ${workflowId}`,
  ].join("\n\n");

/** How a run is started. */
interface StartAtOptions<W extends Workflow> {
  readonly workflowId: string;
  /** The person who starts it, and cannot approve it. */
  readonly startedBy: string;
  readonly args: Parameters<W>;
  /** Default `payments`. */
  readonly taskQueue?: string;
  /** Records the run before it starts, so that it is known even if Temporal's database is restored to an earlier state. */
  readonly ledger?: Ledger;
  /** Hash of the account that pays, if it is known. */
  readonly account?: string;
}

/** How a payment is started. */
export interface StartPaymentOptions<W extends Workflow> extends Omit<
  StartAtOptions<W>,
  "workflowId"
> {
  /** The business key, of which the workflow id is made: `invoice-17` makes `payout/invoice-17`. */
  readonly key: string;
  /** Why this is another payment than one that looks the same: a person has checked it. */
  readonly notDuplicate?: string;
}

const typeOf = (workflowType: string | Workflow): string =>
  typeof workflowType === "string" ? workflowType : workflowType.name;

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
  const { account, args, ledger, startedBy, taskQueue = "payments" } = options;
  const id = checkId(options.workflowId);
  checkName(startedBy, "startedBy");
  const type = typeOf(workflowType);
  const payment = paymentOf(args[0], ledger);
  // First, so that a run that is lost with Temporal's database is not lost in the ledger.
  await ledger?.noteRun({
    account: account ?? null,
    workflowId: id,
    runId: null,
    type,
    startedBy,
    batch: null,
    batchRow: null,
    ...paymentFields(payment),
    alias: payment?.alias ?? null,
  });
  return client.workflow.start<W>(type, {
    workflowId: id,
    taskQueue,
    // TypeScript cannot distinguish these parameters from those of a workflow without any.
    args: args as Parameters<W> & [unknown, ...Array<unknown>],
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    workflowIdConflictPolicy: "FAIL",
    memo: {
      [STARTED_BY]: startedBy,
      [VOUCHER]: { workflowId: id, at: now, is: "first" },
    } satisfies RunMemo,
    staticSummary: summaryOf(payment, type),
    staticDetails: detailsOf(id, startedBy),
  });
};

/**
 * Starts a payment workflow once: a key that Temporal knows, open or ended, is refused. With a ledger, so is what is
 * likely a duplicate of a payment under another key, unless `notDuplicate` says why it is not.
 *
 * @param client Temporal's client.
 * @param workflowType the workflow, or its name.
 * @param options key, starter, arguments.
 * @returns the handle of the run, whose id is `TYPE/KEY`.
 * @throws WorkflowExecutionAlreadyStartedError if the key is known; Refused if it is likely a duplicate; InvalidInput if
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
  { key, notDuplicate, ...options }: StartPaymentOptions<W>,
): Promise<WorkflowHandleWithStartDetails<W>> => {
  const { account, args, ledger } = options;
  const workflowId = idOfKey(typeOf(workflowType), key);
  checkReason(notDuplicate);
  if (ledger !== undefined && notDuplicate === undefined) {
    const planned = { workflowId, input: args[0] };
    const [similar = []] = await findDuplicates({ client, ledger }, account, [planned]);
    refuseDuplicates(workflowId, planned.input, similar);
  }
  return startPaymentAt(Date.now(), client, workflowType, { ...options, workflowId });
};

/** Longest time between the record of a run and its start in Temporal. */
const START_WITHIN_MS = 60_000;

/** Whether a run was recorded but not started, as when Temporal refused it. It does not count as an earlier payment. */
const isNeverStarted = async (
  { client, ledger }: Deciding,
  { at, state, workflowId }: SimilarPayment,
): Promise<boolean> => {
  if (state !== null || at > Date.now() - START_WITHIN_MS) return false;
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  // A row of a batch has no run until it is approved, and its turn comes.
  if (run === undefined || run.batch !== null) return false;
  return (await findRun(client, workflowId)) === undefined;
};

/**
 * Finds likely duplicates under other ids, by the rule of the ledger's `similarPayments`. Runs that were never started are
 * left out.
 *
 * @param account hash of the account that pays; undefined compares with payments of all accounts.
 * @returns for each payment the earlier ones, in the same order.
 */
export const findDuplicates = async (
  looking: Deciding,
  account: string | undefined,
  planned: ReadonlyArray<{ readonly workflowId: string; readonly input: unknown }>,
): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
  const asked = planned.flatMap(({ input, workflowId }, at) => {
    const payment = paymentOf(input, looking.ledger);
    return payment?.payee ? [{ ...payment, at, payee: payment.payee, workflowId }] : [];
  });
  const found = await looking.ledger.similarPayments(account, asked);
  const similar: Array<Array<SimilarPayment>> = planned.map(() => []);
  for (const [index, { at }] of asked.entries()) {
    for (const one of found[index] ?? [])
      if (!(await isNeverStarted(looking, one))) similar[at]?.push(one);
  }
  return similar;
};

/** Words for states whose names are not self-explanatory. */
const STATES: Readonly<Partial<Record<WriteState, string>>> = {
  ready: "not sent yet",
  sending: "outcome unknown",
  unknown: "outcome unknown",
  asking: "outcome unknown",
  ended: "ended by a person",
};

/** Words an earlier payment: `invoice-17 (Invoice 17) of 2026-11-23 12:00 UTC, done`. */
export const similarText = ({ at, reference, state, workflowId }: SimilarPayment): string => {
  const when = `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `${workflowId}${reference === null ? "" : ` (${reference})`} of ${when}, ${STATES[state ?? "ready"] ?? state}`;
};

/** How a planned run is started. */
export interface StartOptions {
  readonly startedBy: string;
  /** Why this is another payment than one that looks the same: a person has checked it. */
  readonly notDuplicate?: string | undefined;
}

/** Checks the reason why something is no duplicate. @throws InvalidInput */
export const checkReason = (notDuplicate: string | undefined): void => {
  const problem = notDuplicate === undefined ? undefined : reasonProblem(notDuplicate);
  if (problem !== undefined)
    throw invalidInput(`The reason (notDuplicate) ${problem}. Nothing was started.`);
};

/**
 * Refuses what is likely a duplicate.
 *
 * @param subject the workflow id, or the row of a file.
 * @param input of the run.
 * @param similar its likely duplicates, as `findDuplicates` returns them.
 * @param next how to start it anyway.
 * @throws Refused that names up to three of them; nothing if there is none.
 */
export const refuseDuplicates = (
  subject: string,
  input: unknown,
  similar: ReadonlyArray<SimilarPayment>,
  next?: NextOperation,
): void => {
  if (similar.length === 0) return;
  const like = similar.slice(0, 3).map(similarText).join("; ");
  const same = paymentOf(input)?.payee?.startsWith(PERSON_MARK)
    ? "person"
    : "payee, amount and currency";
  throw refused(
    `${subject} is likely a duplicate: the same ${same} as ${like}. Nothing was started. If it is not one, give the reason.`,
    next,
  );
};

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

const SETTLED: ReadonlySet<WriteState> = new Set(["done", "ended", "undone"]);

/** The run of that id: started with the same input (`options` are how it waits), or forgotten by Temporal alone. */
const existing = async (
  operations: Operations,
  workflowId: string,
  { input, workflowType }: PlannedRun,
): Promise<SubmittedRun | undefined> => {
  const { client, ledger } = operations;
  const run = await findRun(client, workflowId);
  if (run === undefined) {
    const [noted] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
    if (noted?.batch)
      throw refused(
        `The id ${workflowId} belongs to row ${noted.batchRow} of ${noted.batch}. Nothing was started: give another id.`,
        noted.batch,
      );
    const rows = await ledger.rowsOf(workflowId);
    return rows.length > 0 && rows.every(({ state }) => SETTLED.has(state))
      ? { workflowId, runId: null, isNew: false, isForgotten: true }
      : undefined;
  }
  const { runId, type } = run;
  const first = await readInput(operations, { workflowId, runId });
  if (type === workflowType && contentHash(first) === contentHash(input))
    return { workflowId, runId, isNew: false };
  throw refused(
    `The id ${workflowId} belongs to a run of ${type} with another input. Nothing was started: give another id, or amend that run.`,
    workflowId,
  );
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
  const { input } = planned;
  const account = accountNamed(operations, input.account);
  const known = await existing(operations, workflowId, planned);
  if (known !== undefined || notDuplicate !== undefined) return known;
  const [similar = []] = await findDuplicates(operations, account, [{ workflowId, input }]);
  refuseDuplicates(workflowId, input, similar, {
    operation: "payNotDuplicate",
    // To pay it anyway, the user gives the same id again.
    ...(workflowId !== planned.contentId && { workflowId }),
    ...(planned.workflowType === WORKFLOW.onboardCardholder && { isOnboarding: true }),
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
  if (known !== undefined) return known;
  const mayBe = `The run ${workflowId} may have been started`;
  try {
    const { firstExecutionRunId } = await changing(operations, workflowId, mayBe, () =>
      startPaymentAt<(input: PlannedRun["input"]) => Promise<unknown>>(
        Date.now(),
        client,
        planned.workflowType,
        {
          workflowId,
          startedBy: options.startedBy,
          args: [planned.input],
          taskQueue,
          ledger,
          account: accountNamed(operations, planned.input.account),
        },
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
