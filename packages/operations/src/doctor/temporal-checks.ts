import {
  accountQueue,
  batchQueue,
  isNotFound,
  isNotifierState,
  isTracked,
  notifierId,
  type Tracked,
  trackerId,
  utc,
} from "@durable-payments/protocol";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { KnownAccount } from "../connection/operations.ts";
import { pollersOf } from "../connection/pollers.ts";
import type { TemporalSettings } from "../connection/settings.ts";
import type { Temporal } from "../connection/temporal.ts";
import { detailsOf } from "../connection/temporal-errors.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";
import { readHeartbeat } from "./heartbeat.ts";

const DAY_MS = 86_400_000;

/** A payout may take this long; a run that is forgotten earlier cannot be explained. */
export const LEAST_RETENTION_DAYS = 30;

const command = ({ address, namespace }: TemporalSettings, what: string, flags = ""): string =>
  `temporal operator ${what} --address ${address} --namespace ${namespace} ${flags}`.trimEnd();

const checkNamespace = async ({ client, settings }: Temporal): Promise<ReadonlyArray<Check>> => {
  const { namespace } = settings;
  let config;
  try {
    ({ config } = await client.workflowService.describeNamespace({ namespace }));
  } catch (error) {
    return isNotFound(error)
      ? [
          failed(
            "namespace",
            `there is no namespace ${namespace}`,
            command(settings, "namespace create"),
          ),
        ]
      : [failed("namespace", detailsOf(error), "Check TEMPORAL_NAMESPACE and the credentials.")];
  }
  const days = (optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0) / DAY_MS;
  const shown = `${namespace}, keeps runs for ${Math.round(days * 10) / 10} days after their end`;
  return [
    days === 0 || days >= LEAST_RETENTION_DAYS
      ? ok("namespace", days === 0 ? namespace : shown)
      : warning(
          "namespace",
          `${shown}: what happened in a run that takes longer cannot be explained; what was paid the ledger knows`,
          command(settings, "namespace update", `--retention ${LEAST_RETENTION_DAYS}d`),
        ),
  ];
};

const checkWorkers = async (
  { client, settings }: Temporal,
  accounts: ReadonlyArray<KnownAccount>,
): Promise<Check> => {
  const { taskQueue } = settings;
  const named = accounts.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const queues = [
    ["workflow", taskQueue],
    ["activity", taskQueue],
    ["activity", batchQueue(taskQueue)],
    ...named.map((name) => ["activity", accountQueue(taskQueue, name)] as const),
  ] as const;
  const counts = await Promise.all(queues.map(([tasks, queue]) => pollersOf(client, tasks, queue)));
  const unpolled = queues.filter((_, index) => counts[index]?.length === 0);
  if (unpolled.length === 0) {
    return ok("worker", `${Math.min(...counts.map((found) => found.length))} on "${taskQueue}"`);
  }
  const missing = [...new Set(unpolled.map(([tasks, queue]) => `${queue} (${tasks} tasks)`))];
  return failed("worker", `none polls ${missing.join(", ")}`, { operation: "startWorker" });
};

/** The tracker reads the service more often than that, unless it cannot be read. */
const READ_WITHIN_MS = 5 * 60_000;

const WITHOUT = "until it works, waiting runs poll every few hours instead";

const STARTED_SOON = "A worker starts it within a minute: run this again then.";

const HANGING =
  "See the worker's log, and restart the worker: what it was sending is found out again.";

/** What the tracker of an account does, and what it last reported. */
interface CheckedTracker {
  readonly check: Check;
  readonly tracked: Tracked | undefined;
}

/** Checks that a worker reads the service for the runs that wait. */
const checkTracker = async (
  { client }: Temporal,
  { hash, name }: KnownAccount,
): Promise<CheckedTracker> => {
  const title = name === undefined ? "tracker" : `tracker of ${name}`;
  const found = await readHeartbeat(client, trackerId(hash, name));
  const checked = (check: Check, tracked?: Tracked): CheckedTracker => ({ check, tracked });
  switch (found.is) {
    case "notRunning":
      return checked(warning(title, `not running: ${WITHOUT}`, STARTED_SOON));
    case "betweenTwo":
      return checked(ok(title, "begins anew"));
    case "late":
      return checked(failed(title, `${found.why}; ${WITHOUT}`, HANGING));
    case "alive": {
      const { details } = found;
      // Its first heartbeat says nothing yet.
      if (!isTracked(details)) return checked(ok(title, "has begun"));
      const { failing, readAt, waiting } = details;
      const waits = `${waiting} waited for`;
      if (failing !== undefined) {
        const since = utc(new Date(failing.since));
        return checked(
          failed(
            title,
            `no progress since ${since}: ${failing.why}; ${waits}; ${WITHOUT}`,
            HANGING,
          ),
          details,
        );
      }
      return checked(
        Date.now() - readAt > READ_WITHIN_MS
          ? failed(title, `has read nothing since ${utc(new Date(readAt))}; ${waits}`, HANGING)
          : ok(title, waits),
        details,
      );
    }
  }
};

const checkNotifications = async ({ client, settings }: Temporal): Promise<Check> => {
  const title = "notifications";
  const found = await readHeartbeat(client, notifierId(settings.taskQueue));
  switch (found.is) {
    case "notRunning":
      return skipped(title, "nobody is notified: no worker has PAYMENTS_NOTIFY_URL");
    case "betweenTwo":
      return ok(title, "begin anew");
    case "late":
      return failed(
        title,
        found.why,
        "Set PAYMENTS_NOTIFY_URL and PAYMENTS_NOTIFY_SECRET of every worker.",
      );
    case "alive": {
      if (!isNotifierState(found.details)) return ok(title, "have begun");
      const { blind, delivered, failing, queue } = found.details;
      const counted = `${delivered} delivered, ${queue.length} to be delivered`;
      const fault = blind ?? failing;
      return fault === undefined
        ? ok(title, counted)
        : failed(title, `${counted}; failing since ${utc(new Date(fault.since))}: ${fault.why}`, {
            operation: "testWebhook",
          });
    }
  }
};

/** What was found of Temporal. */
export interface TemporalFindings {
  readonly checks: ReadonlyArray<Check>;
  /** What the trackers have seen of the ledger: its witnesses. */
  readonly tracked: ReadonlyArray<Tracked>;
}

/** A check that something cannot be read is not the end of the others. */
const guarded = async (name: string, check: () => Promise<Check>): Promise<Check> => {
  try {
    return await check();
  } catch (error) {
    return failed(name, detailsOf(error), "Check the credentials of this namespace.");
  }
};

/**
 * Checks everything about Temporal that runs need: server, namespace, workers, trackers, notifications.
 *
 * @param accounts of the settings.
 */
export const checkTemporal = async (
  temporal: Temporal,
  accounts: ReadonlyArray<KnownAccount>,
): Promise<TemporalFindings> => {
  const { client, settings } = temporal;
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const server = ok(
    "Temporal",
    `${settings.address}, server ${serverVersion || "of unknown version"}`,
  );
  const namespace = await checkNamespace(temporal);
  if (namespace.some(({ status }) => status === "failed")) {
    return { checks: [server, ...namespace], tracked: [] };
  }
  const tracked: Array<Tracked> = [];
  const checks = await Promise.all([
    guarded("worker", () => checkWorkers(temporal, accounts)),
    ...accounts.map((account) =>
      guarded("tracker", async () => {
        const found = await checkTracker(temporal, account);
        if (found.tracked !== undefined) tracked.push(found.tracked);
        return found.check;
      }),
    ),
    guarded("notifications", () => checkNotifications(temporal)),
  ]);
  return { checks: [server, ...namespace, ...checks], tracked };
};
