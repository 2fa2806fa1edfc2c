import type { Ledger } from "@durable-payments/ledger";
import {
  type Delivery,
  isNotifierState,
  type NotifierState,
  type QueuedNotification,
} from "@durable-payments/protocol/notifications";
import { temporalReason } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { type LongActivityOptions, type LongWork, runLong } from "../long-activity.ts";
import { firstState, Look, MOST_QUEUED } from "./look.ts";
import { NOTIFY_VARIABLES, type NotificationSettings } from "./settings.ts";
import { post } from "./webhook.ts";

/** The notifier's activities. */
export interface NotifierActivities {
  /**
   * Looks for what has happened, and posts it, until it is to end: after hours, or as its worker drains.
   *
   * @returns what the next one begins with.
   */
  readonly notify: (state: NotifierState | undefined) => Promise<NotifierState>;
  /** Posts one notification that is about nothing, and returns what became of it. */
  readonly sendTestNotification: () => Promise<Delivery>;
}

/** What a notifier takes. */
export interface NotifierOptions extends LongActivityOptions {
  readonly ledger: Ledger;
  /** Base queue of the worker. */
  readonly taskQueue: string;
  /** Where notifications go; without it they wait for a worker that knows. */
  readonly settings?: NotificationSettings | undefined;
}

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;

/** What could not be delivered for so long is given up, so that later ones arrive. */
const GIVEN_UP_AFTER_MS = 3 * 24 * 60 * 60_000;

/** How long an activity waits for a worker that knows where notifications go. */
const NOT_CONFIGURED_WAIT_MS = 60_000;

const notConfigured = `${NOTIFY_VARIABLES.url} is not set for this worker`;

/** One attempt of the activity. */
class Notifier implements LongWork<NotifierState> {
  readonly #activity = Context.current();
  readonly #settings: NotificationSettings;
  readonly #ledger: Ledger;
  readonly #taskQueue: string;
  readonly #signal: AbortSignal;
  #state: NotifierState;
  #failures = 0;
  #nextTry = 0;
  #nextLook = 0;

  constructor(
    settings: NotificationSettings,
    { ledger, taskQueue }: Pick<NotifierOptions, "ledger" | "taskQueue">,
    signal: AbortSignal,
    known: NotifierState | undefined,
  ) {
    this.#settings = settings;
    this.#ledger = ledger;
    this.#taskQueue = taskQueue;
    this.#signal = signal;
    this.#state = known ?? firstState(Date.now());
  }

  get state(): NotifierState {
    return this.#state;
  }

  async turn(): Promise<number> {
    await this.#lookIfDue();
    await this.#deliverAll();
    const next = this.#state.queue.length === 0 ? this.#nextLook : this.#nextTry;
    return Math.min(next, this.#nextLook) - Date.now();
  }

  async #lookIfDue(): Promise<void> {
    if (Date.now() < this.#nextLook) return;
    this.#nextLook = Date.now() + this.#settings.intervalMs;
    if (this.#state.queue.length >= MOST_QUEUED) return;
    const { client, info } = this.#activity;
    const { overdueAfterMs, webUi } = this.#settings;
    const place = {
      ledger: this.#ledger,
      namespace: info.namespace,
      taskQueue: this.#taskQueue,
      overdueAfterMs,
      webUi,
    };
    try {
      const { blind: _, ...found } = await client.withAbortSignal(this.#signal, () =>
        new Look(client, place, this.#state).find(),
      );
      this.#state = found;
    } catch (error) {
      if (this.#signal.aborted) throw error;
      const why = temporalReason(error);
      const since = this.#state.blind?.since ?? Date.now();
      this.#state = { ...this.#state, blind: { why, since } };
      this.#activity.log.warn(`What has happened could not be looked up: ${why}`);
    }
    this.#activity.heartbeat(this.#state);
  }

  /** Deliver what waits, in order, until one cannot be delivered. */
  async #deliverAll(): Promise<void> {
    for (let [first] = this.#state.queue; first !== undefined; [first] = this.#state.queue) {
      if (Date.now() < this.#nextTry) return;
      this.#state = (await this.#deliver(first))
        ? {
            ...withoutFailing(this.#state),
            queue: this.#state.queue.slice(1),
            delivered: this.#state.delivered + 1,
          }
        : this.#givenUp(first);
      this.#activity.heartbeat(this.#state);
      // However many there are, what happens meanwhile is looked for.
      if (Date.now() >= this.#nextLook) return;
    }
  }

  async #deliver(queued: QueuedNotification): Promise<boolean> {
    const { host, isDelivered, why = "" } = await post(this.#settings, queued, this.#signal);
    if (isDelivered) {
      this.#failures = 0;
      return true;
    }
    this.#failures += 1;
    this.#nextTry =
      Date.now() + Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (this.#failures - 1));
    const since = this.#state.failing?.since ?? Date.now();
    this.#state = { ...this.#state, failing: { why: `${host} ${why}`, since } };
    this.#activity.log.warn(`A notification was not delivered: ${host} ${why}`);
    return false;
  }

  /** The state without what nobody took for too long. */
  #givenUp({ id, notification }: QueuedNotification): NotifierState {
    const { failing, givenUp, queue } = this.#state;
    const waits = Date.now() - Math.max(Date.parse(notification.timestamp), failing?.since ?? 0);
    if (waits < GIVEN_UP_AFTER_MS) return this.#state;
    this.#activity.log.error(`The notification ${id} (${notification.type}) is given up.`);
    return { ...this.#state, queue: queue.slice(1), givenUp: givenUp + 1 };
  }
}

const withoutFailing = ({ failing: _, ...state }: NotifierState): NotifierState => state;

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
    return runLong(
      options,
      (signal, reported) =>
        new Notifier(settings, options, signal, isNotifierState(reported) ? reported : given),
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
