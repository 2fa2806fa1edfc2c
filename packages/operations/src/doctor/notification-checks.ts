import type { Temporal } from "../connection/temporal.ts";
import { notifierId, utc } from "@durable-payments/protocol";
import * as Result from "effect/Result";
import { readAnswer } from "@durable-payments/activities/answers";
import { type Check, failed, ok, skipped } from "./check.ts";
import { describeLate, readLongActivity } from "./long-activity.ts";

/** The name of this check. */
export const NOTIFICATIONS = "notifications";

const LOG = "See the worker's log.";

const SETTINGS =
  "Set PAYMENTS_NOTIFY_URL and PAYMENTS_NOTIFY_SECRET of every worker, and look at its log; terminate the notifier where nobody is to be notified.";

/** Check that notifications are delivered, where somebody is to be notified. */
export const checkNotifications = async (temporal: Temporal): Promise<Check> => {
  const notifier = notifierId(temporal.settings.taskQueue);
  const activity = await readLongActivity(temporal, notifier);
  switch (activity._tag) {
    case "NotRunning":
      return skipped(NOTIFICATIONS, "nobody is notified: no worker has PAYMENTS_NOTIFY_URL");
    case "BetweenTwo":
      return ok(NOTIFICATIONS, `${notifier} begins anew`);
    case "Late":
      return failed(NOTIFICATIONS, `${notifier} is late: ${describeLate(activity)}`, SETTINGS);
    case "Alive": {
      const read = readAnswer.notifier(activity.details);
      if (Result.isFailure(read)) return ok(NOTIFICATIONS, `${notifier} has begun`);
      const { blind, delivered, failing, queue } = read.success;
      const counted = `${delivered} delivered, ${queue.length} to be delivered`;
      if (blind !== undefined) {
        return failed(
          NOTIFICATIONS,
          `${counted}, and since ${utc(new Date(blind.since))} it is not known what happens: ${blind.why}`,
          LOG,
        );
      }
      return failing === undefined
        ? ok(NOTIFICATIONS, counted)
        : failed(
            NOTIFICATIONS,
            `${counted}, and since ${utc(new Date(failing.since))} they are not: ${failing.why}`,
            { operation: "testNotification" },
          );
    }
  }
};
