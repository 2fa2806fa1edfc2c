import {
  accountQueue,
  batchQueue,
  isNamespaceMissing,
  notifierId,
  readReported,
  type Tracked,
  trackedAccount,
  trackerId,
  trackersOn,
  utc,
} from "@durable-payments/protocol";
import { isNotifierState, isTracked } from "@durable-payments/protocol/payloads";
import type { Client } from "@temporalio/client";
import { pollersOf } from "@durable-payments/protocol/task-queues";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { KnownAccount } from "../../facts/connection/connections.ts";
import { failureOf } from "../../facts/history.ts";
import { findRun, listed, type Temporal } from "../../facts/connection/temporal.ts";
import { detailsOf } from "../../facts/connection/temporal-errors.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";

const DAY_MS = 86_400_000;

/** Longest time of a payout: with a shorter retention, a run may be forgotten before it can be explained. */
const LEAST_RETENTION_DAYS = 30;

const checkNamespace = async ({ client, settings }: Temporal): Promise<Check> => {
  const { namespace } = settings;
  const days = await client.workflowService.describeNamespace({ namespace }).then(
    ({ config }) => (optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0) / DAY_MS,
    (error: unknown) => {
      if (isNamespaceMissing(error)) return undefined;
      throw error;
    },
  );
  if (days === undefined)
    return failed(
      "namespace",
      `there is no namespace ${namespace}`,
      "Create it, or correct the namespace.",
    );
  if (days === 0) return ok("namespace", namespace);
  const shown = `${namespace}, retains closed runs for ${Math.round(days * 10) / 10} days`;
  return days >= LEAST_RETENTION_DAYS
    ? ok("namespace", shown)
    : warning(
        "namespace",
        `${shown}: the history of an older run is lost, but the ledger keeps its payments`,
        `Make Temporal retain them for ${LEAST_RETENTION_DAYS} days or longer.`,
      );
};

const checkWorkers = async (
  { client, settings: { taskQueue } }: Temporal,
  accounts: ReadonlyArray<KnownAccount>,
): Promise<Check> => {
  const named = accounts.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const queues = [
    ["workflow", taskQueue],
    ["activity", taskQueue],
    ["activity", batchQueue(taskQueue)],
    ...named.flatMap((name) =>
      [taskQueue, batchQueue(taskQueue)].map(
        (queue) => ["activity", accountQueue(queue, name)] as const,
      ),
    ),
  ] as const;
  const counts = await Promise.all(queues.map(([tasks, queue]) => pollersOf(client, tasks, queue)));
  const unpolled = queues.filter((_, index) => counts[index]?.length === 0);
  if (unpolled.length === 0)
    return ok("worker", `${Math.min(...counts.map((found) => found.length))} on "${taskQueue}"`);
  const missing = [...new Set(unpolled.map(([tasks, queue]) => `${queue} (${tasks} tasks)`))];
  return failed("worker", `no worker polls ${missing.join(", ")}`, { action: "startWorker" });
};

/** An activity that workers keep running heartbeats more often than this. */
const HEARTBEAT_WITHIN_MS = 60_000;

const HANGING = "Read the worker's log and restart the worker. Writes in flight are reconciled.";

/** The service, the ledger or Temporal may be down: a restart of the worker would change nothing. */
const TRIES_AGAIN = "Correct what the reason names. The worker tries again, and needs no restart.";

/** State and last heartbeat of the one activity of a workflow that workers keep running. */
type Heartbeat =
  | { readonly is: "notRunning" }
  | { readonly is: "late"; readonly why: string; readonly remedy: string }
  /** Its details are undefined if it has just begun. */
  | { readonly is: "alive"; readonly details: unknown };

const readHeartbeat = async (client: Client, workflowId: string): Promise<Heartbeat> => {
  const described = await findRun(client, workflowId);
  if (described?.state !== "running") return { is: "notRunning" };
  const [activity] = described.raw.pendingActivities ?? [];
  if (activity === undefined) return { is: "alive", details: undefined };
  const seen = Math.max(
    optionalTsToMs(activity.lastHeartbeatTime) ?? 0,
    optionalTsToMs(activity.lastStartedTime) ?? 0,
  );
  // Between two attempts, the server names no start.
  const failure = failureOf(activity.lastFailure);
  if (seen === 0 && failure !== null) {
    const reason = failure.message.replace(/\.$/, "");
    const why = `the worker ${activity.lastWorkerIdentity} failed: ${reason}`;
    return { is: "late", why, remedy: TRIES_AGAIN };
  }
  if (seen === 0) return { is: "late", why: "no worker has started it", remedy: HANGING };
  const sinceMs = Date.now() - seen;
  if (sinceMs > HEARTBEAT_WITHIN_MS)
    return {
      is: "late",
      why: `has not reported for ${Math.round(sinceMs / 1000)} s`,
      remedy: HANGING,
    };
  const details = await readReported(client.options.loadedDataConverter, activity);
  return { is: "alive", details };
};

/** The tracker reads the service more often than that, unless it cannot be read. */
const READ_WITHIN_MS = 5 * 60_000;

const WITHOUT = "until it works, waiting runs poll every few hours instead";

const trackedText = (title: string, { failing, hints, rate, readAt, waiting }: Tracked): Check => {
  const limit =
    rate === undefined ? "" : `; sends at most ${Number(rate.toPrecision(2))} requests/s`;
  const hinted = hints === undefined ? "" : `; its worker receives hints at ${hints}`;
  const waits = `${waiting} open ${waiting === 1 ? "wait" : "waits"}${limit}${hinted}`;
  if (failing !== undefined) {
    const since = utc(new Date(failing.since));
    return failed(
      title,
      `failing since ${since}: ${failing.why}; ${waits}; ${WITHOUT}`,
      TRIES_AGAIN,
    );
  }
  return Date.now() - readAt > READ_WITHIN_MS
    ? failed(
        title,
        `has not read the service's lists since ${utc(new Date(readAt))}; ${waits}`,
        HANGING,
      )
    : ok(title, waits);
};

/** Checks the tracker of an account, and adds its last heartbeat: a witness of the ledger. */
const checkTracker = async (
  { client }: Temporal,
  { hash, name }: KnownAccount,
  tracked: Array<Tracked>,
): Promise<Check> => {
  const title = name === undefined ? "tracker" : `tracker of ${name}`;
  const found = await readHeartbeat(client, trackerId(hash, name));
  if (found.is === "notRunning") {
    const soon = "A worker starts it within a minute. Then run this again.";
    return warning(title, `not running: ${WITHOUT}`, soon);
  }
  if (found.is === "late") return failed(title, `${found.why}; ${WITHOUT}`, found.remedy);
  const details = isTracked(found.details) ? found.details : undefined;
  if ((details?.account ?? hash) !== hash)
    return failed(title, "works for another account", `Terminate ${trackerId(hash, name)}.`);
  if (details === undefined) return ok(title, "has started");
  tracked.push(details);
  return trackedText(title, details);
};

/** Adds the last heartbeats of the trackers of accounts that only the workers know. */
const readOthers = async (
  { client, settings: { taskQueue } }: Temporal,
  accounts: ReadonlyArray<KnownAccount>,
  tracked: Array<Tracked>,
): Promise<void> => {
  for await (const { workflowId } of listed(client, trackersOn(taskQueue))) {
    if (accounts.some(({ hash }) => hash === trackedAccount(workflowId))) continue;
    const found = await readHeartbeat(client, workflowId);
    if (found.is === "alive" && isTracked(found.details)) tracked.push(found.details);
  }
};

const checkNotifications = async ({ client, settings }: Temporal): Promise<Check> => {
  const title = "notifications";
  const found = await readHeartbeat(client, notifierId(settings.taskQueue));
  if (found.is === "notRunning")
    return skipped(title, "no one is notified: no worker that runs has the setting notify.url");
  if (found.is === "late") {
    const remedy = "Give every worker the settings notify.url and notify.secret.";
    return failed(title, found.why, remedy);
  }
  if (!isNotifierState(found.details)) return ok(title, "have started");
  const { failing } = found.details;
  if (failing === undefined) return ok(title, "all notifications were delivered");
  return failed(title, `failing since ${utc(failing.since)}: ${failing.why}`, {
    action: "testWebhook",
  });
};

const unread = (name: string, error: unknown): Check =>
  failed(name, detailsOf(error), "Check the namespace and the credentials.");

/** A failed read does not end the other checks. */
const guarded = (name: string, check: Promise<Check>): Promise<Check> =>
  check.catch((error: unknown) => unread(name, error));

/** Checks everything about Temporal that runs need: server, namespace, workers, trackers, notifications. */
export const checkTemporal = async (temporal: Temporal, accounts: ReadonlyArray<KnownAccount>) => {
  const { client, settings } = temporal;
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const version = serverVersion || "unknown version";
  const server = ok("Temporal", `${settings.address}, server ${version}`);
  const namespace = await guarded("namespace", checkNamespace(temporal));
  /** The last heartbeats of trackers. */
  const tracked: Array<Tracked> = [];
  if (namespace.status === "failed") return { checks: [server, namespace], tracked };
  const checks = await Promise.all([
    guarded("worker", checkWorkers(temporal, accounts)),
    ...accounts.map((account) => guarded("tracker", checkTracker(temporal, account, tracked))),
    guarded("notifications", checkNotifications(temporal)),
  ]);
  const others = readOthers(temporal, accounts, tracked).then(() => []);
  checks.push(...(await others.catch((error: unknown) => [unread("trackers", error)])));
  return { checks: [server, namespace, ...checks], tracked };
};
