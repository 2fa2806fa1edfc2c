/**
 * Delivers the feed of events to a webhook.
 *
 * The ledger has the events and how far the endpoint is, so nothing is remembered here: a worker that dies delivers its
 * last event once more, with the same id. Each account is delivered in its own order, and an event that cannot be
 * delivered delays no other account. Nothing is given up: an endpoint that was away for a week gets what it has missed.
 */
import { messageOf } from "@durable-payments/client/values";
import type { FeedEvent, Ledger } from "@durable-payments/ledger";
import { webUiLink } from "@durable-payments/protocol";
import type { Delivery } from "@durable-payments/protocol/notifications";
import { isNotifierState, type NotifierState } from "@durable-payments/protocol/payloads";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { hash, randomUUID } from "node:crypto";
import { type LongActivityOptions, type LongWork, runLong } from "../long-activity.ts";
import { type NotificationSettings, post } from "./webhook.ts";

/** Options of a notifier. */
export interface NotifierOptions extends LongActivityOptions {
  readonly ledger: Ledger;
  /** Base queue of the worker. */
  readonly taskQueue: string;
  /** The address of notifications; without it they wait for a worker that has one. */
  readonly settings?: NotificationSettings | undefined;
}

/** A new endpoint begins with the events of this time. */
const BEGINS_BEFORE_MS = 10 * 60_000;

/** A turn takes less, besides its interval. */
const LEASE_MS = 60_000;

/** Events of an account that are read together. */
const MOST_READ = 100;

/** How long an activity waits for a worker that has an address for notifications. */
const NOT_CONFIGURED_WAIT_MS = 10_000;

const notConfigured = "PAYMENTS_NOTIFY_URL (notify.url) is not set for this worker";

/** No command is shown for an id with characters that a terminal would alter. */
const isPlain = (workflowId: string): boolean => /^[\w.@:/+-]+$/.test(workflowId);

/** Returns the body of the webhook of an event: its facts, as docs/events.md lists them, and where to look. */
const bodyOf = (
  { at, id: _, type, ...facts }: FeedEvent,
  namespace: string,
  taskQueue: string,
  webUi: string | undefined,
) => {
  const { runId, workflowId } = facts;
  const data = {
    namespace,
    taskQueue,
    ...facts,
    ...(webUi !== undefined && { webUi: webUiLink(webUi, namespace, workflowId, runId) }),
    ...(isPlain(workflowId) && { command: `durable-payments show ${workflowId}` }),
  };
  return { type, timestamp: new Date(at).toISOString(), data };
};

/** The work of one attempt. */
const notifying = (
  settings: NotificationSettings,
  { ledger, taskQueue }: NotifierOptions,
  signal: AbortSignal,
  known: NotifierState,
): LongWork<NotifierState> => {
  const { info } = Context.current();
  const { intervalMs, lateAfterMs, overdueAfterMs, url, webUi } = settings;
  const endpoint = hash("sha256", url.href, "base64url");
  let state = known;
  let delivered = 0;

  const deliver = async (account: string): Promise<void> => {
    for (;;) {
      const events = await ledger.undelivered(endpoint, account, MOST_READ, BEGINS_BEFORE_MS);
      for (const event of events) {
        const body = bodyOf(event, info.namespace, taskQueue, webUi);
        const { host, isDelivered, why } = await post(settings, event.id, body, signal);
        if (!isDelivered) throw new Error(`${host} ${why}`);
        await ledger.delivered(endpoint, event);
        delivered += 1;
      }
      if (events.length < MOST_READ) return;
    }
  };

  const failed = (why: string): void => {
    state = { failing: { why, since: state.failing?.since ?? Date.now() } };
  };

  const run = async (): Promise<number> => {
    const begun = performance.now();
    delivered = 0;
    // One notifier of all that share the ledger: by settings of another, a problem would end and begin again with each turn.
    if (await ledger.lease("problems", taskQueue, intervalMs + LEASE_MS))
      await ledger.noteProblems([
        ...(await ledger.attention({ lateAfterMs })),
        ...(await ledger.overdue(overdueAfterMs)),
      ]);
    const ends = await Promise.allSettled((await ledger.feeds()).map(deliver));
    const failure = ends.find(({ status }) => status === "rejected");
    if (failure?.status !== "rejected") state = {};
    // An endpoint that accepts some is not away: the waits grow only while it accepts nothing.
    else if (delivered === 0) throw failure.reason;
    else failed(messageOf(failure.reason));
    return begun + intervalMs - performance.now();
  };
  return { state: () => state, parts: [{ name: "notifications", run, failed }] };
};

/** The notifier's activities, for a worker with these settings. */
export const makeNotifierActivities = (options: NotifierOptions) => ({
  /** Delivers the events of all accounts, for hours or until its worker drains. Returns the state for the next run. */
  notify: async (given: NotifierState | undefined): Promise<NotifierState> => {
    const { settings } = options;
    if (settings === undefined) {
      throw ApplicationFailure.create({
        type: "NotConfigured",
        message: `${notConfigured}.`,
        nextRetryDelay: NOT_CONFIGURED_WAIT_MS,
      });
    }
    return runLong(options, (signal, reported) =>
      notifying(settings, options, signal, isNotifierState(reported) ? reported : (given ?? {})),
    );
  },
  /** Posts one test notification and returns its outcome. */
  sendTestNotification: async (): Promise<Delivery> => {
    const { settings, taskQueue } = options;
    if (settings === undefined) {
      return { isDelivered: false, host: null, status: null, tookMs: 0, why: notConfigured };
    }
    const { cancellationSignal, info } = Context.current();
    const timestamp = new Date().toISOString();
    const data = { namespace: info.namespace, taskQueue };
    const body = { type: "notifications.test", timestamp, data };
    return post(settings, `msg_${randomUUID()}`, body, cancellationSignal);
  },
});
