import {
  givenReason,
  PAYMENT_CURRENCY,
  summaryOfInput,
  withoutResend,
} from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { Temporal } from "../connection/temporal.ts";
import { cancelRequestIn } from "../history/cancel-request.ts";
import { undoesAtEnd } from "../ending/undoes-at-end.ts";
import { endingOf } from "../history/close-event.ts";
import { summaryOf, timeOf } from "../history/events.ts";
import { explainFailure } from "../runs/explain-failure.ts";
import { pendingActivities } from "../runs/pending-activities.ts";
import { idsOf, namedIdsOf } from "../runs/listed-run.ts";
import { orNull } from "../runs/or-null.ts";
import { describeRun } from "../runs/state.ts";
import { batchStateOf } from "../runs/batch-state.ts";
import { webUiLink } from "../connection/settings.ts";
import { executionHistoryOf } from "../history/execution-history.ts";
import { openDoubts, readSettledDoubts } from "../history/in-doubt.ts";
import { withDoubts } from "../history/doubted-states.ts";
import { readRun } from "../history/read-run.ts";
import type { ReadRun } from "../history/run-history.ts";
import { masked } from "../history/masked.ts";
import { nextSteps, OF_ENDED_PAYOUT } from "./next-steps.ts";
import { batchOf, endOf } from "../runs/report.ts";
import { isOpenState } from "../runs/state-name.ts";
import { readRetryWay, type RetryWay } from "../retry/way.ts";
import { withPayees } from "./shown-payees.ts";
import { timelineSteps } from "./steps.ts";
import type { Reset, Timeline, TimelineStep } from "./timeline.ts";

/** A reset leaves a failed workflow task at the point from which the run goes on. */
const resetOf = ({ events }: History): Reset | null => {
  for (const event of events?.toReversed() ?? []) {
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed?.baseRunId) {
      const reason = masked(givenReason(failed.failure?.message ?? ""));
      return { runId: failed.baseRunId, at: timeOf(event), reason };
    }
  }
  return null;
};

/** Why the worker cannot run the workflow at present: what the last workflow task failed with. */
const workerFaultOf = ({ events }: History): string | null => {
  const ended = events?.findLast(
    ({ workflowTaskCompletedEventAttributes: done, workflowTaskFailedEventAttributes: failed }) =>
      done || (failed && !failed.baseRunId),
  );
  return masked(ended?.workflowTaskFailedEventAttributes?.failure?.message) ?? null;
};

/**
 * What a run is to do, by its input as it was amended; undefined for a workflow whose input is not known. What
 * was written beside the input at its start may be anything.
 */
const inputSummary = (type: string, past: ReadRun): string | undefined =>
  summaryOfInput(type, executionHistoryOf([{ ...past, runId: "" }]).input);

/** The history does not say how often an activity was tried that is still under way: Temporal does. */
const withPending = (
  steps: ReadonlyArray<TimelineStep>,
  description: WorkflowExecutionDescription,
): ReadonlyArray<TimelineStep> => {
  const pending = pendingActivities(description);
  return steps.map((step) => ({
    ...step,
    events: step.events.map((event) => {
      if (event.kind !== "activity" || event.outcome !== "pending") return event;
      const now = pending.find(({ activity }) => activity === event.activity);
      if (now === undefined) return event;
      const { attempt, message, nextAttemptAt = null } = now;
      const failure =
        message === undefined ? null : { type: "LastAttempt", message: masked(message) };
      return { ...event, attempts: attempt, failure, nextAttemptAt };
    }),
  }));
};

/** A step of a run that has ended, or was asked to: what a timer says of sending again does not hold any more. */
const endingStep =
  (isEnded: boolean) =>
  (step: TimelineStep): TimelineStep => ({
    ...step,
    events: step.events.map((event) =>
      event.kind === "timer" && event.until === null && event.summary !== null
        ? { ...event, summary: withoutResend(event.summary, isEnded) }
        : event,
    ),
  });

/** How a run is retried, as a retry finds it; neither that nor why not for a run that there is nothing to retry of. */
const retryWayOf = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
  { failure, laterRun, state }: Pick<Timeline, "failure" | "laterRun" | "state">,
): Promise<RetryWay | Readonly<Record<string, never>>> => {
  const hasNotDoneIt = state !== "completed" && state !== "continuedAsNew" && !isOpenState(state);
  if (!hasNotDoneIt || laterRun !== null || failure?.type === OF_ENDED_PAYOUT) return {};
  return await readRetryWay(temporal, run);
};

/**
 * Read what happened in a run, running or ended, from its history: no worker is asked. Values that must
 * not be shown are masked.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param runId of an earlier run of the workflow id; default: the latest.
 * @returns its steps with their events, times in ISO 8601 and durations in ms, and what can be done next.
 * @throws NotFound where there is no such run.
 * @example
 * const { steps, next } = await readTimeline(temporal, "invoice-2026-001");
 */
export const readTimeline = async (
  temporal: Temporal,
  workflowId: string,
  runId?: string,
): Promise<Timeline> => {
  const description = await describeRun(temporal, workflowId, runId);
  const { closeTime, startTime, status, type, typedSearchAttributes } = description;
  const [history, latest] = await Promise.all([
    temporal.client.workflow.getHandle(workflowId, description.runId).fetchHistory(),
    runId === undefined ? description : describeRun(temporal, workflowId),
  ]);
  const past = readRun(history);
  const settled = await readSettledDoubts(temporal, description);
  const startedBy = description.memo?.["startedBy"];
  const [started] = history.events ?? [];
  const askedToEnd = cancelRequestIn(history.events?.toReversed() ?? []);
  const { failure, result } = endingOf(history.events?.at(-1));
  const explained = failure && (await explainFailure(temporal, description, failure));
  const laterRun = latest.runId === description.runId ? null : latest.runId;
  const open = closeTime === undefined ? undefined : openDoubts(temporal, description);
  // Why it failed is shown, whatever else of it can be read.
  const { inDoubt } = (await (explained === null ? open : open && orNull(open))) ?? { inDoubt: [] };
  const all = withDoubts(timelineSteps(past, endOf(description)), { inDoubt, settled });
  const isEnded = Boolean(closeTime);
  const steps = !isEnded && askedToEnd === undefined ? all : all.map(endingStep(isEnded));
  const timeline = {
    workflowId,
    runId: description.runId,
    type,
    summary: masked(inputSummary(type, past) ?? (started && summaryOf(started))) ?? null,
    state:
      status.name === "CONTINUED_AS_NEW"
        ? "continuedAsNew"
        : await batchStateOf(temporal, description),
    // A run that a retry made has the events of the one before it.
    firstStartedAt: started === undefined ? startTime.toISOString() : timeOf(started),
    startedAt: startTime.toISOString(),
    startedBy: typeof startedBy === "string" ? startedBy : null,
    askedToEnd: closeTime ? null : (askedToEnd ?? null),
    undoes: undoesAtEnd(past.startedWith),
    closedAt: closeTime?.toISOString() ?? null,
    currency: typedSearchAttributes.get(PAYMENT_CURRENCY) ?? null,
    paymentIds: idsOf(description),
    namedIds: namedIdsOf(description),
    resetFrom: resetOf(history),
    laterRun,
    steps: withPayees(withPending(steps, description), history),
    batch: await batchOf(temporal, description),
    result,
    failure: explained?.failure ?? null,
    inDoubt,
    settled,
    workerFault: closeTime ? null : workerFaultOf(history),
  } as const;
  const way = await retryWayOf(temporal, description, timeline);
  const retry = "next" in way ? way.next : null;
  return {
    ...timeline,
    ...(inDoubt.length > 0 && retry !== null && { retry: { ...retry, runId: description.runId } }),
    next: nextSteps({ ...timeline, retry }),
    noRetry: "whyNot" in way ? masked(way.whyNot) : null,
    webUi: webUiLink(temporal.settings, description) ?? null,
  };
};
