import { isRecord } from "@durable-payments/client/values";
import type { UpdateDefinition } from "@temporalio/common";

/** Where to look. The data of an event has its facts as well, as docs/events.md lists them: no account number, and no payee. */
export interface NotificationData {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly workflowId?: string;
  /** Its page in Temporal's Web UI. */
  readonly webUi?: string;
  /** The command that shows it. */
  readonly command?: string;
}

/** An event, as it is posted: the body of a webhook of the Standard Webhooks specification. */
export interface Notification {
  /** Type of the event, or `notifications.test`. */
  readonly type: string;
  /** When it was recorded, ISO 8601. */
  readonly timestamp: string;
  readonly data: NotificationData;
}

/** A notification to deliver; each repeated post has the same id. */
export interface QueuedNotification {
  readonly id: string;
  readonly notification: Notification;
}

/** State of the notifier, passed from run to run. The ledger has what was delivered. */
export interface NotifierState {
  /** The reason why events cannot be read or delivered, and since when: milliseconds since 1970. */
  readonly failing?: { readonly why: string; readonly since: number };
}

/** Returns whether the details of a heartbeat are the notifier's state. */
export const isNotifierState = (details: unknown): details is NotifierState => {
  if (!isRecord(details)) return false;
  const { failing } = details;
  return (
    failing === undefined ||
    (isRecord(failing) &&
      typeof failing["why"] === "string" &&
      typeof failing["since"] === "number")
  );
};

/** The outcome of one attempt to deliver a notification. */
export interface Delivery {
  readonly isDelivered: boolean;
  /** Host and port that it was posted to. */
  readonly host: string | null;
  /** Status of the response, if there was one. */
  readonly status: number | null;
  readonly tookMs: number;
  /** The reason why it was not delivered. */
  readonly why?: string;
}

/** Returns the workflow id of the notifier of a base queue. */
export const notifierId = (taskQueue: string): string => `notifier/${taskQueue}`;

/** Has the notifier post one test notification. Defined by hand, so that a sender does not load workflow code. */
export const testNotificationUpdate = {
  type: "update",
  name: "testNotification",
} as UpdateDefinition<Delivery>;
