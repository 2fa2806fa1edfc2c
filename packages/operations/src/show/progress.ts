import type { Client } from "@temporalio/client";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { RecordedWait } from "@durable-payments/ledger";
import { WAIT, waitActivityId } from "@durable-payments/protocol";
import { findRun } from "../connection/temporal.ts";
import { readCloseEvent, closeFailureOf, type Failure, failureOf } from "../history.ts";

type Described = NonNullable<Awaited<ReturnType<typeof findRun>>>;

const WAITS = ["payout", "cardholder", "balance"] as const;

/** What an activity that waits for the service waits for; none of any other, nor of a wait's last look. */
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
      attempt: activity.attempt ?? 1,
      /** Why the last attempt ended: that it is not yet time, or what went wrong. */
      message: failure?.message ?? null,
      failureType: failure?.type ?? null,
      /** When it is tried again, milliseconds since 1970; null while it runs. */
      nextAttemptAt: optionalTsToMs(activity.nextAttemptScheduleTime) || null,
    };
  });

/** How far Temporal says that a run has got. Times: milliseconds since 1970. */
export type Progress = NonNullable<Awaited<ReturnType<typeof readProgress>>>;

/** Reads how far a run has got. */
export const readProgress = async (client: Client, workflowId: string, runId?: string) => {
  const run = await findRun(client, workflowId, runId);
  if (run === undefined) return undefined;
  const { pendingChildren, pendingWorkflowTask, workflowExecutionInfo: info } = run.raw;
  return {
    runId: run.runId,
    type: run.type,
    state: run.state,
    startedAt: optionalTsToMs(info?.startTime) ?? 0,
    endedAt: optionalTsToMs(info?.closeTime) ?? null,
    /** Activities that it waits for. */
    pending: pendingOf(run),
    pendingChildren: (pendingChildren ?? []).map((child) => child.workflowId ?? ""),
    /** Attempts of the workflow task that is due; 0 where none is. */
    taskAttempts: pendingWorkflowTask?.attempt ?? 0,
    taskQueue: info?.taskQueue ?? "",
    /** Workflow id of the topmost parent, under which the ledger keeps the writes. */
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
