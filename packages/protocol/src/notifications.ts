import { isRecord } from "@durable-payments/api-core/values";
import type { UpdateDefinition } from "@temporalio/common";

/** What a notification is about. */
export type NotificationType =
  /** A run waits for a person: it asks, or is to be approved. */
  | "run.asks"
  /** A run has failed, timed out or was terminated. */
  | "run.failed"
  /** A run goes on for longer than it should, or its payout was open still at the end of its wait. */
  | "run.overdue"
  /** A batch has ended, however. */
  | "batch.ended"
  /** Somebody asked for it, to see whether notifications arrive. */
  | "notifications.test";

/** What is said of a run: names and states, and nothing of the payment. */
export interface NotificationData {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly workflowId?: string;
  readonly runId?: string;
  readonly workflowType?: string;
  /** `attention`, `failed`, `timedOut`, `terminated`, `cancelled`, `completed` or `running`. */
  readonly state?: string;
  /** The step that the run is at, or ended at. */
  readonly stage?: string;
  /** The batch that it belongs to. */
  readonly batch?: string;
  /** Of a batch that has completed: how many of its rows ended how. It completes with rows that failed, too. */
  readonly rows?: Readonly<Record<string, number>>;
  /** Its page in Temporal's Web UI. */
  readonly webUi?: string;
  /** The command by which to see it. */
  readonly command?: string;
}

/** One notification, as it is posted: the body of a webhook of the Standard Webhooks specification. */
export interface Notification {
  readonly type: NotificationType;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: NotificationData;
}

/** A notification that is to be delivered; its id is the same each time that it is posted. */
export interface QueuedNotification {
  readonly id: string;
  readonly notification: Notification;
}

/** What the notifier knows, from one of its runs to the next. Times are milliseconds since 1970. */
export interface NotifierState {
  /** What happened before was posted. */
  readonly from: number;
  /** Ids of the notifications that were posted of what happened since, or is still so; left out before the first look. */
  readonly told?: ReadonlyArray<string>;
  /** Why what has happened cannot be looked up or delivered, and since when. */
  readonly failing?: { readonly why: string; readonly since: number };
}

/** Checks whether the details of a heartbeat are what the notifier knows. */
export const isNotifierState = (details: unknown): details is NotifierState =>
  isRecord(details) && typeof details["from"] === "number";

/** What became of one attempt to deliver a notification. */
export interface Delivery {
  readonly isDelivered: boolean;
  /** Host and port that it was posted to. */
  readonly host: string | null;
  /** Status of the answer, where there was one. */
  readonly status: number | null;
  readonly tookMs: number;
  /** Why it was not delivered. */
  readonly why?: string;
}

/** Returns the workflow id of the notifier of a base queue. */
export const notifierId = (taskQueue: string): string => `notifier/${taskQueue}`;

/** Has the notifier post one test notification. Defined by hand: whoever only sends a message loads no workflow code. */
export const testNotificationUpdate = {
  type: "update",
  name: "testNotification",
} as UpdateDefinition<Delivery>;
