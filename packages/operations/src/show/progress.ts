import type { Client } from "@temporalio/client";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { RecordedWait } from "@durable-payments/ledger";
import { WAIT, waitActivityId } from "@durable-payments/protocol";
import { findRun, type RunState } from "../connection/temporal.ts";
import { readCloseEvent } from "../history/events.ts";
import { closeFailureOf, type Failure, failureOf } from "../history/failure.ts";

type Described = NonNullable<Awaited<ReturnType<typeof findRun>>>;

/** An activity that a run waits for. */
export interface PendingActivity {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  /** Why the last attempt ended: that it is not yet time, or what went wrong. */
  readonly message: string | null;
  readonly failureType: string | null;
  /** When it is tried again, milliseconds since 1970; null while it runs. */
  readonly nextAttemptAt: number | null;
}

/** How far Temporal says that a run has got. Times: milliseconds since 1970. */
export interface Progress {
  readonly runId: string;
  readonly type: string;
  readonly state: RunState;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly pending: ReadonlyArray<PendingActivity>;
  readonly pendingChildren: ReadonlyArray<string>;
  /** Attempts of the workflow task that is due; 0 where none is. */
  readonly taskAttempts: number;
  readonly taskQueue: string;
  /** Workflow id of the topmost parent, under which the ledger keeps the writes. */
  readonly rootId: string;
}

const WAITS = ["payout", "cardholder", "balance"] as const;

/** What an activity that waits for the service waits for; none of any other. */
export const waitOf = ({
  id,
  type,
}: Pick<PendingActivity, "id" | "type">): ReadonlyArray<Pick<RecordedWait, "kind" | "thing">> =>
  WAITS.filter((kind) => WAIT[kind] === type).flatMap((kind) => {
    const begin = waitActivityId(WAIT[kind], "");
    return id.startsWith(begin) ? [{ kind, thing: id.slice(begin.length) }] : [];
  });

const pendingOf = ({ raw }: Described): ReadonlyArray<PendingActivity> =>
  (raw.pendingActivities ?? []).map((activity) => {
    const failure = failureOf(activity.lastFailure);
    const next = optionalTsToMs(activity.nextAttemptScheduleTime);
    return {
      id: activity.activityId ?? "",
      type: activity.activityType?.name ?? "",
      attempt: activity.attempt ?? 1,
      message: failure?.message ?? null,
      failureType: failure?.type ?? null,
      nextAttemptAt: next ? next : null,
    };
  });

/** Reads how far a run has got. */
export const readProgress = async (
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<Progress | undefined> => {
  const run = await findRun(client, workflowId, runId);
  if (run === undefined) return undefined;
  const { pendingChildren, pendingWorkflowTask, workflowExecutionInfo: info } = run.raw;
  return {
    runId: run.runId,
    type: run.type,
    state: run.state,
    startedAt: optionalTsToMs(info?.startTime) ?? 0,
    endedAt: optionalTsToMs(info?.closeTime) ?? null,
    pending: pendingOf(run),
    pendingChildren: (pendingChildren ?? []).map((child) => child.workflowId ?? ""),
    taskAttempts: pendingWorkflowTask?.attempt ?? 0,
    taskQueue: info?.taskQueue ?? "",
    rootId: info?.rootExecution?.workflowId || workflowId,
  };
};

/** Reads why a run ended without success; null where it succeeded, goes on, or does not say. */
export const readFailureOf = async (
  client: Client,
  workflowId: string,
  { runId, state }: Pick<Progress, "runId" | "state">,
): Promise<Failure | null> =>
  state === "running" || state === "succeeded"
    ? null
    : closeFailureOf(await readCloseEvent(client, { workflowId, runId }));
