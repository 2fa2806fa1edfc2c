import type { Client } from "@temporalio/client";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { RecordedWait } from "@durable-payments/ledger";
import { WAIT, waitActivityId } from "@durable-payments/protocol";
import * as Struct from "effect/Struct";
import { findRun } from "./connection/temporal.ts";
import { readCloseEvent, closeFailureOf, type Failure, failureOf } from "./history.ts";

type Described = NonNullable<Awaited<ReturnType<typeof findRun>>>;

const WAITS = ["payout", "return", "cardholder", "balance"] as const;

/** Returns the object of a waiting activity; undefined for any other activity, and for the last look of a wait. */
export const waitOf = ({
  id,
  type,
}: Pick<Progress["pending"][number], "id" | "type">): ReadonlyArray<
  Pick<RecordedWait, "kind" | "thing">
> =>
  WAITS.filter((kind) => WAIT[kind] === type).flatMap((kind) => {
    const begin = waitActivityId(WAIT[kind], "");
    return id.startsWith(begin) && !id.endsWith(":look")
      ? [{ kind, thing: id.slice(begin.length) }]
      : [];
  });

const pendingOf = ({ raw }: Described) =>
  (raw.pendingActivities ?? []).map((activity) => {
    const failure = failureOf(activity.lastFailure);
    return {
      id: activity.activityId ?? "",
      type: activity.activityType?.name ?? "",
      /** Empty if the server does not say it. */
      taskQueue: activity.activityOptions?.taskQueue?.name ?? "",
      attempt: activity.attempt ?? 1,
      /** The reason of the last attempt's end: not yet time, or a failure. */
      message: failure?.message ?? null,
      failureType: failure?.type ?? null,
      /** Time of its next attempt, milliseconds since 1970; null while it runs. */
      nextAttemptAt: optionalTsToMs(activity.nextAttemptScheduleTime) || null,
    };
  });

/** Progress of a run in Temporal. Times are milliseconds since 1970. */
export type Progress = NonNullable<Awaited<ReturnType<typeof readProgress>>>;

/** Reads the progress of a run. */
export const readProgress = async (client: Client, workflowId: string, runId?: string) => {
  const run = await findRun(client, workflowId, runId);
  if (run === undefined) return undefined;
  const { pendingChildren, pendingWorkflowTask, workflowExecutionInfo: info } = run.raw;
  return {
    ...Struct.pick(run, ["runId", "firstRunId", "type", "state", "isPaused"]),
    startedAt: optionalTsToMs(info?.startTime) ?? 0,
    endedAt: optionalTsToMs(info?.closeTime) ?? null,
    /** Activities that it waits for. */
    pending: pendingOf(run),
    pendingChildren: (pendingChildren ?? []).map((child) => child.workflowId ?? ""),
    /** Attempts of the workflow task that is due; 0 if none is. */
    taskAttempts: pendingWorkflowTask?.attempt ?? 0,
    taskQueue: info?.taskQueue ?? "",
    /** Workflow id of the topmost parent, under which the ledger keeps the writes. */
    rootId: info?.rootExecution?.workflowId || workflowId,
  };
};

/** Reads the reason of a run's failure; null if it succeeded, is open, or has no reason. */
export const readFailureOf = async (
  client: Client,
  workflowId: string,
  { runId, state }: Pick<Progress, "runId" | "state">,
): Promise<Failure | null> =>
  state === "running" || state === "succeeded"
    ? null
    : closeFailureOf(await readCloseEvent(client, { workflowId, runId }));
