import {
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
  PAYMENT_CURRENCY,
  PAYMENT_IDS,
  PAYMENT_STAGE,
  type NamedId,
  namedIds,
  type PaymentMemo,
  plainIds,
  textAt,
} from "@durable-payments/protocol";
import { messageOf } from "@durable-payments/api-core/values";
import { type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { endingOf, readCloseEvent, readStageTime } from "../history/close-event.ts";
import { Unreadable } from "../history/events.ts";
import type { Failure } from "../history/failure.ts";
import { masked } from "../history/masked.ts";
import { readSentTotals } from "../batch/sent-totals.ts";
import type { BatchContent } from "./batch-content.ts";
import { batchStateOf } from "./batch-state.ts";
import { explainFailure } from "./explain-failure.ts";
import { orNull } from "./or-null.ts";
import { readBatchPayouts, readPayment } from "./payment.ts";
import { isOpenState, type StateName, stateNameOf } from "./state-name.ts";

/** A run as Temporal's visibility knows it, with what its first event and its last one say. Times are ISO 8601. */
export interface ListedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** `continuedAsNew` is in lists of what is in doubt alone: elsewhere the run that continues it stands for it. */
  readonly state: StateName | "continuedAsNew";
  /** The step that it is at, or ended at; null before its first. */
  readonly stage: string | null;
  /** All that it awaits: `payout:ID`, `cardholder:ID`. */
  readonly awaits: ReadonlyArray<string>;
  /** Since when it is at its stage, or has ended; null where that is not known. */
  readonly since: string | null;
  readonly startedAt: string;
  readonly startedBy: string | null;
  readonly closedAt: string | null;
  /** What it moves, as it is sent now; null for a run that does not say it. */
  readonly payment: PaymentMemo | null;
  /** The rows of a batch, and their totals by currency, as they are sent now; null for any other run. */
  readonly payouts: BatchContent | null;
  readonly currency: string | null;
  /** Why it did not complete. */
  readonly failure: Failure | null;
  /** Why what it moves cannot be read, such as a key that is missing here; left out where it can. */
  readonly unreadable?: string;
  /** Keys and ids by which it can be found. */
  readonly paymentIds: ReadonlyArray<string>;
  /** The batch that it belongs to. */
  readonly batch: string | null;
  /** Another run of its id has begun since, and it is in doubt still; left out for any other. */
  readonly isEarlier?: true;
}

/** Keys and ids by which a run can be found. */
export const idsOf = ({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): ReadonlyArray<string> =>
  plainIds(typedSearchAttributes.get(PAYMENT_IDS) ?? []);

/** The same, with what each is called. */
export const namedIdsOf = ({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): ReadonlyArray<NamedId> =>
  namedIds(typedSearchAttributes.get(PAYMENT_IDS) ?? []);

const readFailureOf = async (
  temporal: Temporal,
  run: WorkflowExecutionInfo,
): Promise<Failure | null> => {
  try {
    const { failure } = endingOf(await readCloseEvent(temporal, run));
    return failure && (await explainFailure(temporal, run, failure)).failure;
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    const message = `its history cannot be read: ${masked(error instanceof Unreadable ? error.why : messageOf(error))}`;
    return { type: "Unreadable", message };
  }
};

/** How a run stands; as Temporal has it where what it wrote cannot be read. */
export const listedStateOf = async (
  temporal: Temporal,
  run: WorkflowExecutionInfo,
): Promise<StateName> => (await orNull(batchStateOf(temporal, run))) ?? stateNameOf(run);

/** What a batch pays, as it is sent now. */
const readSentPayouts = async (
  temporal: Temporal,
  run: WorkflowExecutionInfo,
): Promise<BatchContent | null> => {
  const content = await readBatchPayouts(temporal, run);
  if (content === null) return null;
  const { totals } = await readSentTotals(temporal, run.workflowId, content.totals);
  return { ...content, totals };
};

/** What a run moves; or why that cannot be read, as a run that cannot be read hides none of the others. */
const readMoved = async (
  temporal: Temporal,
  run: WorkflowExecutionInfo,
): Promise<Pick<ListedRun, "payment" | "payouts" | "unreadable">> => {
  try {
    const [payment, payouts] = await Promise.all([
      readPayment(temporal, run),
      readSentPayouts(temporal, run),
    ]);
    return { payment, payouts };
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    const why = masked(error instanceof Unreadable ? error.why : messageOf(error));
    return { payment: null, payouts: null, unreadable: why };
  }
};

/** Read what is listed of a run: visibility has most of it, its first event what it moves, and its last one the rest. */
export const readListedRun = async (
  temporal: Temporal,
  run: WorkflowExecutionInfo,
): Promise<ListedRun> => {
  const { closeTime, memo, runId, startTime, type, typedSearchAttributes, workflowId } = run;
  const state =
    run.status.name === "CONTINUED_AS_NEW" ? "continuedAsNew" : await listedStateOf(temporal, run);
  const closedAt = closeTime?.toISOString() ?? null;
  const [{ payment, payouts, ...unread }, since, failure] = await Promise.all([
    readMoved(temporal, run),
    state !== "continuedAsNew" && isOpenState(state)
      ? orNull(readStageTime(temporal, run))
      : closedAt,
    closedAt === null || state === "completed" ? null : readFailureOf(temporal, run),
  ]);
  return {
    workflowId,
    runId,
    type,
    state,
    stage: typedSearchAttributes.get(PAYMENT_STAGE) ?? null,
    // A run that has ended keeps what it awaited last.
    awaits: closeTime === undefined ? (typedSearchAttributes.get(PAYMENT_AWAITS) ?? []) : [],
    since,
    startedAt: startTime.toISOString(),
    startedBy: textAt(memo, "startedBy") ?? null,
    closedAt,
    payment,
    payouts,
    // What it is found by, whoever starts a run writes.
    currency: payment?.currency ?? typedSearchAttributes.get(PAYMENT_CURRENCY) ?? null,
    failure,
    ...unread,
    paymentIds: idsOf(run),
    batch: typedSearchAttributes.get(PAYMENT_BATCH) ?? null,
  };
};

const isEnded = ({ status }: WorkflowExecutionInfo): boolean =>
  status.name !== "RUNNING" && status.name !== "COMPLETED" && status.name !== "PAUSED";

/** Whether a run was reset since, or started anew: then another run of its id has how it stands. */
export const isSuperseded = async (
  { client }: Temporal,
  run: WorkflowExecutionInfo,
): Promise<boolean> => {
  if (!isEnded(run)) return false;
  try {
    const latest = await client.workflow.getHandle(run.workflowId).describe();
    return latest.runId !== run.runId;
  } catch (error) {
    // Visibility may still list a run whose retention is over.
    if (error instanceof WorkflowNotFoundError) return true;
    // One that cannot be read hides none of the others.
    if (isNoAnswer(error)) throw error;
    return false;
  }
};
