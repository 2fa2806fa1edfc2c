import { isRecord } from "@durable-payments/api-core/values";
import { accountOfTracker, trackerId } from "@durable-payments/protocol";
import { WorkflowNotFoundError } from "@temporalio/client";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { findTrackers } from "../connection/trackers.ts";
import { activityQueues, countPollers } from "../connection/workers.ts";
import { utc } from "../utc.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";

const WORKFLOW_TASKS = "worker, workflow tasks";
const ACTIVITY_TASKS = "worker, activity tasks";
const TRACKER = "tracker";
const ACCOUNT = "account";

/** The names of these checks. */
export const WORKER_CHECKS: ReadonlyArray<string> = [
  WORKFLOW_TASKS,
  ACTIVITY_TASKS,
  TRACKER,
  ACCOUNT,
];

/** How long a worker that works may take for an answer. */
const ANSWER_WITHIN_MS = 3_000;

/** Answered by the SDK in every workflow, whatever its code. */
const ANY_QUERY = "__temporal_workflow_metadata";

const HANGING =
  "Look at its log, end it and start another one: what it was sending is reconciled, also after SIGKILL.";

const STARTED_SOON = "A worker that polls starts it within a minute: run this again then.";

const secondsSince = (time: number): string => `${Math.round((Date.now() - time) / 1000)} s`;

/** How long a worker took to answer, in milliseconds; undefined where none did in time. */
const askWorker = async (
  { client, connection, settings }: Temporal,
  workflowId: string,
): Promise<number | undefined> => {
  const asked = performance.now();
  try {
    await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, async () => {
      // Otherwise the worker that had it last is asked, which may be gone while others work.
      await client.workflowService.resetStickyTaskQueue({
        namespace: settings.namespace,
        execution: { workflowId },
      });
      await client.workflow.getHandle(workflowId).query(ANY_QUERY);
    });
  } catch (error) {
    if (isNoAnswer(error)) return undefined;
    // A worker that cannot answer has answered: it knows no such query, say.
    if (error instanceof WorkflowNotFoundError) throw error;
  }
  return performance.now() - asked;
};

const checkWorkflowTasks = async (
  temporal: Temporal,
  tracker: string | undefined,
): Promise<Check> => {
  const { taskQueue } = temporal.settings;
  const pollers = await countPollers(temporal, "workflow");
  if (pollers === 0) {
    return failed(WORKFLOW_TASKS, `none polls task queue ${taskQueue}`, {
      operation: "startWorker",
    });
  }
  const polled = `${pollers} on task queue ${taskQueue}`;
  if (tracker === undefined) {
    return warning(WORKFLOW_TASKS, `${polled}, not asked: no tracker runs there`, STARTED_SOON);
  }
  const tookMs = await askWorker(temporal, tracker);
  return tookMs === undefined
    ? failed(
        WORKFLOW_TASKS,
        `${polled}, of which none answers within ${ANSWER_WITHIN_MS / 1000} s: it hangs, is gone since less than a minute, or is busy`,
        HANGING,
      )
    : ok(WORKFLOW_TASKS, `${polled}, answers in ${Math.round(tookMs)} ms`);
};

const checkActivityTasks = async (temporal: Temporal): Promise<Check> => {
  const queues = activityQueues(temporal.settings.taskQueue);
  const counts = await Promise.all(
    queues.map((queue) => countPollers(temporal, "activity", queue)),
  );
  const unpolled = queues.filter((_, index) => counts[index] === 0);
  return unpolled.length === 0
    ? ok(ACTIVITY_TASKS, `${Math.min(...counts)} on task queue ${queues.join(", ")}`)
    : failed(ACTIVITY_TASKS, `none polls task queue ${unpolled.join(", ")}`, {
        operation: "startWorker",
      });
};

/** Its activity sends a heartbeat at least as often, or another worker takes it over. */
const HEARTBEAT_WITHIN_MS = 20_000;

/** The service's lists are read more often than that, unless they cannot be. */
const READ_WITHIN_MS = 5 * 60_000;

const checkTracker = async (temporal: Temporal, tracker: string | undefined): Promise<Check> => {
  const without = "runs that wait look by themselves, every hour or so";
  if (tracker === undefined) {
    return warning(TRACKER, `none runs on the task queue: ${without}`, STARTED_SOON);
  }
  const { client } = temporal;
  const { raw } = await client.workflow.getHandle(tracker).describe();
  const [activity] = raw.pendingActivities ?? [];
  // It goes on in a moment.
  if (activity === undefined) return ok(TRACKER, `${tracker} begins anew`);
  // A worker that hangs may have taken up a further attempt, too.
  const begun = activity.attempt === 1 ? optionalTsToMs(activity.lastStartedTime) : undefined;
  const seen = Math.max(optionalTsToMs(activity.lastHeartbeatTime) ?? 0, begun ?? 0);
  if (Date.now() - seen > HEARTBEAT_WITHIN_MS) {
    const why = activity.lastFailure?.message;
    return failed(
      TRACKER,
      `${tracker} is late: ${seen === 0 ? "no worker has taken it up" : `no sign of life for ${secondsSince(seen)}`}${why ? ` (${why})` : ""}; meanwhile ${without}`,
      HANGING,
    );
  }
  const [details] = await decodeArrayFromPayloads(
    client.options.loadedDataConverter,
    activity.heartbeatDetails?.payloads,
  );
  const { readAt, waiting } = isRecord(details) ? details : {};
  const about = `${tracker}, sign of life ${secondsSince(seen)} ago`;
  if (typeof readAt !== "number" || typeof waiting !== "number") return ok(TRACKER, about);
  return Date.now() - readAt > READ_WITHIN_MS
    ? failed(
        TRACKER,
        `${about}, and the service's lists could be read last at ${utc(new Date(readAt))}: ${waiting} waited for`,
        "See sign-in and ping below, and the worker's log.",
      )
    : ok(TRACKER, `${about}, ${waiting} waited for`);
};

const checkAccount = (trackers: ReadonlyArray<string>, account: string | undefined): Check => {
  if (account === undefined) return skipped(ACCOUNT, "not checked: the settings are wrong");
  if (trackers.length === 0) return skipped(ACCOUNT, "not known: no tracker runs");
  const others = trackers.filter((tracker) => accountOfTracker(tracker) !== account);
  if (others.length === 0) return ok(ACCOUNT, `${account}, as these settings have it`);
  const theirs = others.map(accountOfTracker).join(", ");
  return failed(
    ACCOUNT,
    `workers of this task queue work for ${theirs}, and these settings are of ${account}`,
    "Give this command the PAYMENTS_* settings of the worker; each account needs another task queue (PAYMENTS_TASK_QUEUE).",
  );
};

const isRunning = async ({ client }: Temporal, workflowId: string): Promise<boolean> => {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name === "RUNNING";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
};

/**
 * Check that workers poll and answer, and work for the account of these settings.
 *
 * @param account by its hash; undefined where it is not known here.
 */
export const checkWorkers = async (
  temporal: Temporal,
  account: string | undefined,
): Promise<ReadonlyArray<Check>> => {
  const trackers = await findTrackers(temporal);
  const own = account === undefined ? undefined : trackerId(account);
  // Visibility may not list it yet.
  const [tracker = own !== undefined && (await isRunning(temporal, own)) ? own : undefined] =
    trackers;
  return [
    ...(await Promise.all([
      checkWorkflowTasks(temporal, tracker),
      checkActivityTasks(temporal),
      checkTracker(temporal, tracker),
    ])),
    checkAccount(trackers, account),
  ];
};
