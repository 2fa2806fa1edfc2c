import { readAnswer } from "@durable-payments/activities/answers";
import { QueryNotRegisteredError, WorkflowNotFoundError } from "@temporalio/client";
import * as Result from "effect/Result";
import type { Temporal } from "../connection/temporal.ts";
import { findTrackers } from "../connection/trackers.ts";
import { activityQueues, countPollers } from "../connection/workers.ts";
import { accountOfTracker, trackerId, utc } from "@durable-payments/protocol";
import { type Check, failed, ofAccount, ok, skipped, warning } from "./check.ts";
import { describeLate, readLongActivity, seconds } from "./long-activity.ts";

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
    if (error instanceof WorkflowNotFoundError) throw error;
    // A worker that cannot answer has answered. Whatever else fails comes from Temporal: after some seconds
    // without a poll it waits for a poller and then says that none was seen.
    if (!(error instanceof QueryNotRegisteredError)) return undefined;
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

const checkActivityTasks = async (temporal: Temporal, account?: string): Promise<Check> => {
  const queues = activityQueues(temporal.settings.taskQueue, account);
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

/** The service's lists are read more often than that, unless they cannot be. */
const READ_WITHIN_MS = 5 * 60_000;

/** One request that fails is no matter: it is made again at once. */
const FAILING_FOR_MS = 5_000;

/** Check that the tracker reads the service's lists, and signals who waits. */
export const checkTracker = async (
  temporal: Temporal,
  tracker: string | undefined,
): Promise<Check> => {
  const without = "runs that wait look by themselves, every hour or so";
  if (tracker === undefined) {
    return warning(TRACKER, `none runs on the task queue: ${without}`, STARTED_SOON);
  }
  const activity = await readLongActivity(temporal, tracker);
  switch (activity._tag) {
    case "NotRunning":
      return warning(TRACKER, `${tracker} has ended: ${without}`, STARTED_SOON);
    case "BetweenTwo":
      return ok(TRACKER, `${tracker} begins anew`);
    case "Late":
      return failed(
        TRACKER,
        `${tracker} is late: ${describeLate(activity)}; meanwhile ${without}`,
        HANGING,
      );
    case "Alive": {
      const about = `${tracker}, sign of life ${seconds(activity.sinceMs)} ago`;
      const read = readAnswer.tracking(activity.details);
      // Its first heartbeat says nothing yet.
      if (Result.isFailure(read)) return ok(TRACKER, about);
      const { failing, readAt, waiting } = read.success;
      if (failing !== undefined && Date.now() - failing.since > FAILING_FOR_MS) {
        return failed(
          TRACKER,
          `${about}, and since ${utc(new Date(failing.since))} it does not get on: ${failing.why}; ${waiting} waited for; meanwhile ${without}`,
          "See sign-in and ping below, and the worker's log.",
        );
      }
      return Date.now() - readAt > READ_WITHIN_MS
        ? failed(
            TRACKER,
            `${about}, and the service's lists could be read last at ${utc(new Date(readAt))}: ${waiting} waited for`,
            "See sign-in and ping below, and the worker's log.",
          )
        : ok(TRACKER, `${about}, ${waiting} waited for`);
    }
  }
};

/** An account as the settings here have it. */
export interface KnownAccount {
  /** Undefined for the one without a name. */
  readonly name: string | undefined;
  /** Undefined where its settings are wrong. */
  readonly hash: string | undefined;
}

const titleOf = ({ hash = "?", name }: Partial<KnownAccount>): string =>
  name === undefined ? hash : `${name} (${hash})`;

const checkAccounts = (
  trackers: ReadonlyArray<string>,
  known: ReadonlyArray<KnownAccount>,
): Check => {
  if (known.some(({ hash }) => hash === undefined)) {
    return skipped(ACCOUNT, "not checked: the settings are wrong");
  }
  if (trackers.length === 0) return skipped(ACCOUNT, "not known: no tracker runs");
  const own = known.map(titleOf).join(", ");
  const others = trackers
    .flatMap((tracker) => accountOfTracker(tracker) ?? [])
    .filter(({ hash, name }) => !known.some((one) => one.hash === hash && one.name === name));
  if (others.length === 0) return ok(ACCOUNT, `${own}, as these settings have it`);
  return failed(
    ACCOUNT,
    `workers of this task queue work for ${others.map(titleOf).join(", ")}, and these settings are of ${own}`,
    "Give this command the PAYMENTS_* settings of the worker; each account needs a name (PAYMENTS_ACCOUNTS_FILE) or another task queue (PAYMENTS_TASK_QUEUE). Of an account that was removed, terminate the tracker: docs/accounts.md.",
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

/** Checks of an account beside the first one: that its queues are polled, and its tracker. */
const checkFurther = async (
  temporal: Temporal,
  { hash, name }: KnownAccount,
): Promise<ReadonlyArray<Check>> => {
  const tracker = hash === undefined ? undefined : trackerId(hash, name);
  const isThere = tracker !== undefined && (await isRunning(temporal, tracker));
  const checks = [
    checkActivityTasks(temporal, name),
    checkTracker(temporal, isThere ? tracker : undefined),
  ];
  return ofAccount(name, await Promise.all(checks));
};

/**
 * Check that workers poll and answer, and work for the accounts of these settings.
 *
 * @param accounts as the settings here have them; at least one.
 */
export const checkWorkers = async (
  temporal: Temporal,
  accounts: ReadonlyArray<KnownAccount>,
): Promise<ReadonlyArray<Check>> => {
  const trackers = await findTrackers(temporal);
  const [{ hash, name } = { hash: undefined, name: undefined }, ...others] = accounts;
  const own = hash === undefined ? undefined : trackerId(hash, name);
  // Visibility may not list it yet.
  const isOwn = own !== undefined && (trackers.includes(own) || (await isRunning(temporal, own)));
  // Anybody may start another one.
  const tracker = isOwn ? own : trackers[0];
  const [workflowTasks, further, ...ofFirst] = await Promise.all([
    checkWorkflowTasks(temporal, tracker),
    Promise.all(others.map((other) => checkFurther(temporal, other))),
    checkActivityTasks(temporal, name),
    checkTracker(temporal, tracker),
  ]);
  return [
    workflowTasks,
    ...ofAccount(name, ofFirst),
    ...further.flat(),
    checkAccounts(trackers, accounts),
  ];
};
