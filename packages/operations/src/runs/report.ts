import { STARTING } from "@durable-payments/activities/start-attributes";
import {
  isAskingStage,
  PAYMENT_STAGE,
  type NamedId,
  type PaymentMemo,
  type Progress,
  type StepProgress,
  textAt,
  WORKFLOW,
  withoutResend,
} from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import type { DoubtedStep } from "../history/doubted-step.ts";
import { type CancelRequest, readCancelRequest } from "../history/cancel-request.ts";
import { readFirstStart } from "../history/first-start.ts";
import { withDoubts } from "../history/doubted-states.ts";
import { masked } from "../history/masked.ts";
import { readRun } from "../history/read-run.ts";
import { brokenStateOf, type RunEnd, standingOfStep } from "../history/step-standing.ts";
import { Unreadable } from "../history/events.ts";
import { readSettledDoubts, type SettledDoubt, unsettledSteps } from "../history/in-doubt.ts";
import { type PendingActivity, pendingActivities } from "./pending-activities.ts";
import type { BatchReport } from "../batch/report.ts";
import { reportBatchRows } from "../batch/wait.ts";
import { askProgress } from "./progress.ts";
import { withKeptTimes } from "./kept-times.ts";
import { idsOf, namedIdsOf } from "./listed-run.ts";
import { orNull } from "./or-null.ts";
import { readPayment } from "./payment.ts";
import { describeRun, type RunState, stateOf } from "./state.ts";
import type { StepState } from "./state-name.ts";
import { webUiLink } from "../connection/settings.ts";
import type { Unanswered } from "../connection/workers.ts";
import { type NextRetry, readRetryOf } from "../retry/way.ts";

/** A step of a run, as its own account or its history has it. */
export interface ReportedStep extends Omit<StepProgress, "status"> {
  readonly state: StepState;
}

/** All that is known of a run. */
export type RunReport = RunState & {
  readonly type: string;
  /** Step that it is at, or ended at, or `needsAttention`. */
  readonly stage: string | null;
  /** When it came to that stage, or ended, ISO 8601; null where only the run itself knows. */
  readonly since: string | null;
  /** When `startedBy` started it; a retry begins later, at `startedAt`. */
  readonly firstStartedAt: string;
  readonly startedAt: string;
  readonly startedBy: string | null;
  /** What it moves, as it is sent now; null for a run that does not say it. */
  readonly payment: PaymentMemo | null;
  /** Who asked it to end, and why; of a run that goes on. */
  readonly askedToEnd: CancelRequest | null;
  readonly closedAt: string | null;
  /**
   * Ids by name, as the run keeps them: of several of one name the latest, so that of several payouts
   * `paymentIds` has all. Empty where it cannot be asked.
   */
  readonly ids: Readonly<Record<string, string>>;
  /** Keys and ids by which it can be found. */
  readonly paymentIds: ReadonlyArray<string>;
  /** The same, with what each is called: `payout_id`, `key`; `id` where that is not known. */
  readonly namedIds: ReadonlyArray<NamedId>;
  readonly steps: ReadonlyArray<ReportedStep>;
  /** `progress`: the run's own account. `history`: as its history has them, when no worker can be asked. */
  readonly stepsFrom: "progress" | "history";
  /** Why it cannot be asked. */
  readonly noProgress?: Unanswered;
  /** Those of a run that goes on. */
  readonly pending: ReadonlyArray<PendingActivity>;
  /** Steps of an ended run of which nobody knows whether they were carried out. */
  readonly inDoubt: ReadonlyArray<DoubtedStep>;
  /** What people have found out since about steps that were in doubt. */
  readonly settled: ReadonlyArray<SettledDoubt>;
  /** How it is retried, where something of it is in doubt. */
  readonly retry?: NextRetry;
  /** How the payouts of a batch stand by now, retried and amended ones too; null for any other run. */
  readonly batch: BatchReport | null;
  readonly shown: Progress["shown"];
  readonly attention: Progress["attention"] | null;
  readonly webUi: string | null;
};

const sinceOf = (
  { closeTime, startTime }: WorkflowExecutionDescription,
  { attention, steps }: Progress,
): string => {
  if (closeTime) return closeTime.toISOString();
  return attention?.since ?? steps.at(-1)?.since ?? startTime.toISOString();
};

/** How a run ended, as far as it determines how its steps ended; undefined while it goes on. */
export const endOf = ({
  closeTime,
  status,
}: Pick<WorkflowExecutionDescription, "closeTime" | "status">): RunEnd | undefined =>
  closeTime && {
    at: closeTime.toISOString(),
    isDone: status.name === "COMPLETED" || status.name === "CONTINUED_AS_NEW",
    isCancelled: status.name === "CANCELLED" || status.name === "TERMINATED",
  };

/** The steps of a run as its history has them: what is known without a worker. */
const stepsOf = async (
  { client }: Temporal,
  description: WorkflowExecutionDescription,
): Promise<ReadonlyArray<ReportedStep>> => {
  const { runId, workflowId } = description;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const { namedInDoubt, steps } = readRun(history);
  return steps.map((step) => {
    const { activities, name, since } = step;
    const { state, until } = standingOfStep(step, namedInDoubt, endOf(description));
    const note = activities.at(-1)?.summary;
    return {
      name,
      since,
      state,
      ...(until !== undefined && { until }),
      ...(note !== undefined && { note: masked(note) }),
    };
  });
};

const STEP_STATES = {
  running: "running",
  waiting: "waiting",
  needsAttention: "attention",
  done: "completed",
  failed: "failed",
} as const satisfies Record<StepProgress["status"], StepState>;

/**
 * Read how a step stands by the account of its run.
 *
 * @param step of the run's progress.
 * @returns its state, in the words by which runs stand.
 */
export const stepStateOf = ({ name, status }: StepProgress): StepState =>
  status === "waiting" && isAskingStage(name) ? "attention" : STEP_STATES[status];

/** A step by the account of its run. Where the run was terminated, it did not learn that it was. */
const reportedStep = (step: StepProgress, end: RunEnd | undefined): ReportedStep => {
  const { status: _, ...kept } = step;
  const state = stepStateOf(step);
  if (end === undefined) return { ...kept, state };
  const broken = brokenStateOf(end);
  if (step.until !== undefined) return { ...kept, state: state === "failed" ? broken : state };
  return { ...kept, state: end.isDone ? "completed" : broken, until: end.at };
};

/** The same; where its history cannot be decoded, all else that is known of the run is still shown. */
const readSteps = async (temporal: Temporal, description: WorkflowExecutionDescription) => {
  try {
    return { steps: await stepsOf(temporal, description), unread: undefined };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { steps: [], unread: masked(error.message) };
  }
};

/** What only the run itself knows, or as much of it as its history has. */
const readAccount = async (temporal: Temporal, description: WorkflowExecutionDescription) => {
  const asked = await askProgress(temporal, description);
  if (asked._tag === "Answered") {
    const { attention = null, ids, shown } = asked.progress;
    const steps = await withKeptTimes(temporal, description, asked.progress.steps);
    const since = sinceOf(description, asked.progress);
    const end = endOf(description);
    return {
      stage:
        end === undefined
          ? asked.progress.stage
          : (description.typedSearchAttributes.get(PAYMENT_STAGE) ?? null),
      since,
      ids,
      steps: steps.map((step) => reportedStep(step, end)),
      stepsFrom: "progress",
      // A run that was terminated still says what it waited for.
      shown: end === undefined ? shown : {},
      attention: end === undefined ? attention : null,
    } as const;
  }
  const { steps, unread } = await readSteps(temporal, description);
  return {
    // Who starts a run sets the stage that it begins with: it is there when the run has begun.
    stage:
      steps.length === 0 && unread === undefined
        ? STARTING
        : (description.typedSearchAttributes.get(PAYMENT_STAGE) ?? null),
    since: description.closeTime?.toISOString() ?? null,
    ids: {},
    steps,
    stepsFrom: "history",
    noProgress: {
      message: [asked.message, ...(unread === undefined ? [] : [unread])].join(" "),
      ...(asked.next && { next: asked.next }),
    },
    shown: {},
    attention: null,
  } as const;
};

/** How a batch stands by now: its own result is of the time of its end. */
export const batchOf = async (
  temporal: Temporal,
  { type, workflowId }: Pick<WorkflowExecutionDescription, "type" | "workflowId">,
): Promise<BatchReport | null> =>
  type === WORKFLOW.payoutBatch ? orNull(reportBatchRows(temporal, workflowId)) : null;

/** A step of a run that has ended, or was asked to: what its note says of sending again does not hold any more. */
const endingStep =
  (isEnded: boolean) =>
  (step: ReportedStep): ReportedStep =>
    step.note === undefined ? step : { ...step, note: withoutResend(step.note, isEnded) };

/**
 * Describe a run, running or ended, with or without a worker: its steps, ids, what it waits for, what it
 * asks, its result or failure, and what of its sends is in doubt.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run; the latest of that id is described.
 * @returns the report; `stepsFrom` is `history` where no worker could be asked.
 * @throws NotFound where there is no such run.
 * @example
 * const { state, stage, attention } = await reportRun(temporal, "invoice-2026-001");
 */
export const reportRun = async (temporal: Temporal, workflowId: string): Promise<RunReport> => {
  const description = await describeRun(temporal, workflowId);
  const { closeTime, startTime, type } = description;
  const isAskedToEnd =
    closeTime === undefined && description.raw.workflowExtendedInfo?.cancelRequested === true;
  const [payment, batch, state, account, inDoubt, settled, askedToEnd, firstStartedAt] =
    await Promise.all([
      orNull(readPayment(temporal, description)),
      batchOf(temporal, description),
      stateOf(temporal, description),
      readAccount(temporal, description),
      closeTime === undefined ? [] : unsettledSteps(temporal, description),
      readSettledDoubts(temporal, description),
      isAskedToEnd ? readCancelRequest(temporal, description) : undefined,
      readFirstStart(temporal, description),
    ]);
  const retry = inDoubt.length === 0 ? undefined : await readRetryOf(temporal, description);
  return {
    ...state,
    type,
    ...account,
    steps: withDoubts(
      closeTime === undefined && askedToEnd === undefined
        ? account.steps
        : account.steps.map(endingStep(closeTime !== undefined)),
      { inDoubt, settled },
    ),
    firstStartedAt,
    startedAt: startTime.toISOString(),
    startedBy: textAt(description.memo, "startedBy") ?? null,
    payment,
    batch,
    askedToEnd: askedToEnd ?? null,
    closedAt: closeTime?.toISOString() ?? null,
    paymentIds: idsOf(description),
    namedIds: namedIdsOf(description),
    pending: closeTime === undefined ? pendingActivities(description) : [],
    inDoubt,
    settled,
    ...(retry !== undefined && { retry }),
    webUi: webUiLink(temporal.settings, description) ?? null,
  };
};
