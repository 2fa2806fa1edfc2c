import type { Ledger } from "@durable-payments/ledger";
import {
  type Delivery,
  isNotifierState,
  type NotifierState,
} from "@durable-payments/protocol/notifications";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { type LongActivityOptions, type LongWork, runLong } from "../long-activity.ts";
import { LAG_MS, look } from "./look.ts";
import { type NotificationSettings, post } from "./webhook.ts";

/** The notifier's activities. */
export interface NotifierActivities {
  /**
   * Finds occurrences and posts them, for hours or until its worker drains.
   *
   * @returns the state for the next run.
   */
  readonly notify: (state: NotifierState | undefined) => Promise<NotifierState>;
  /** Posts one test notification and returns its outcome. */
  readonly sendTestNotification: () => Promise<Delivery>;
}

/** Options of a notifier. */
export interface NotifierOptions extends LongActivityOptions {
  readonly ledger: Ledger;
  /** Base queue of the worker. */
  readonly taskQueue: string;
  /** The address of notifications; without it they wait for a worker that has one. */
  readonly settings?: NotificationSettings | undefined;
}

/** An undelivered notification is dropped after this time. */
const GIVEN_UP_AFTER_MS = 3 * 24 * 60 * 60_000;

/** Most that is posted after one look. */
export const MOST_POSTED = 200;

/** How long an activity waits for a worker that has an address for notifications. */
const NOT_CONFIGURED_WAIT_MS = 60_000;

const notConfigured = "PAYMENTS_NOTIFY_URL (notify.url) is not set for this worker";

/** The work of one attempt. */
const notifying = (
  settings: NotificationSettings,
  { ledger, taskQueue }: NotifierOptions,
  signal: AbortSignal,
  known: NotifierState | undefined,
): LongWork<NotifierState> => {
  const activity = Context.current();
  const { client, info } = activity;
  const options = { ...settings, ledger, taskQueue, namespace: info.namespace };
  // Occurrences shortly before its start count.
  let state: NotifierState = known ?? { from: Date.now() - LAG_MS };

  /** Advances the mark: earlier occurrences were posted, and are listed by then. */
  const delivered = (upTo: number, ...ids: ReadonlyArray<string>): void => {
    const { from, told = [] } = state;
    // The ledger's clock may be ahead, and the mark must not be.
    const passed = Math.min(upTo, Date.now()) - LAG_MS;
    state = { from: Math.max(from, passed), told: [...told, ...ids] };
    activity.heartbeat(state);
  };

  return {
    state: () => state,
    failed: (why) => {
      state = { ...state, failing: { why, since: state.failing?.since ?? Date.now() } };
    },
    /** Posts occurrences in order until one cannot be delivered; it is found again later. */
    turn: async () => {
      const begun = Date.now();
      const { found, told } = await client.withAbortSignal(signal, () =>
        look(client, options, state),
      );
      state = { ...state, told };
      const { failing } = state;
      const oldest = begun - GIVEN_UP_AFTER_MS;
      const isGivingUp = failing !== undefined && failing.since < oldest;
      for (const next of found.slice(0, MOST_POSTED)) {
        const at = Date.parse(next.notification.timestamp);
        if (isGivingUp && at < oldest) continue;
        const { host, isDelivered, why } = await post(settings, next, signal);
        if (!isDelivered) throw new Error(`${host} ${why}`);
        delivered(at, next.known);
      }
      if (found.length <= MOST_POSTED) delivered(begun);
      return begun + settings.intervalMs - Date.now();
    },
  };
};

/** The notifier's activities, for a worker with these settings. */
export const makeNotifierActivities = (options: NotifierOptions): NotifierActivities => ({
  notify: async (given) => {
    const { settings } = options;
    if (settings === undefined) {
      throw ApplicationFailure.create({
        type: "NotConfigured",
        message: `${notConfigured}.`,
        nextRetryDelay: NOT_CONFIGURED_WAIT_MS,
      });
    }
    return runLong(options, (signal, reported) =>
      notifying(settings, options, signal, isNotifierState(reported) ? reported : given),
    );
  },
  sendTestNotification: async () => {
    const { settings, taskQueue } = options;
    if (settings === undefined) {
      return { isDelivered: false, host: null, status: null, tookMs: 0, why: notConfigured };
    }
    const { cancellationSignal, info } = Context.current();
    const notification = {
      type: "notifications.test" as const,
      timestamp: new Date().toISOString(),
      data: { namespace: info.namespace, taskQueue },
    };
    return post(settings, { id: `msg_${randomUUID()}`, notification }, cancellationSignal);
  },
});
