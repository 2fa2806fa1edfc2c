import { isRecord } from "@durable-payments/client/values";
import type { UpdateDefinition } from "@temporalio/common";

/** The occasion of a notification. */
export type NotificationType =
  /** A run waits for a person: a question or an approval. */
  | "run.asks"
  /** A run has failed, timed out or was terminated. */
  | "run.failed"
  /** A run continues for longer than it should, or its payout was still open at the end of its wait. */
  | "run.overdue"
  /** A batch waits for its approval by a second person. */
  | "batch.asks"
  /** Looser limits of an account wait for a second person. */
  | "limits.ask"
  /** Another problem that needs a person: see `kind`. */
  | "attention"
  /** A batch has ended, with or without failures. */
  | "batch.ended"
  /** A test, to see whether notifications arrive. */
  | "notifications.test";

/** Facts about a run: names and states, without the payment. */
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
  /** For a batch: the number of its rows by outcome. A completed one may include failed rows. */
  readonly rows?: Readonly<Record<string, number>>;
  /**
   * The problem that needs a person: `word` (a status without a recorded meaning), `late` payouts, `unreadable` ones,
   * `missing` runs, a `stalled` file, or an `unserved` account.
   */
  readonly kind?: string;
  /** How many payouts, runs or rows that concerns. */
  readonly count?: number;
  /** Their money: decimal strings by currency. */
  readonly sums?: Readonly<Record<string, string>>;
  /** Why, for a person. No account number. */
  readonly reason?: string;
  /** Its page in Temporal's Web UI. */
  readonly webUi?: string;
  /** The command that shows it. */
  readonly command?: string;
}

/** One notification, as it is posted: the body of a webhook of the Standard Webhooks specification. */
export interface Notification {
  readonly type: NotificationType;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: NotificationData;
}

/** A notification to deliver; each repeated post has the same id. */
export interface QueuedNotification {
  readonly id: string;
  readonly notification: Notification;
}

/** State of the notifier, passed from run to run. Times are milliseconds since 1970. */
export interface NotifierState {
  /** Earlier occurrences were posted. */
  readonly from: number;
  /** Ids of posted notifications of later or lasting occurrences; left out before the first look. */
  readonly told?: ReadonlyArray<string>;
  /** The reason why notifications cannot be found or delivered, and since when. */
  readonly failing?: { readonly why: string; readonly since: number };
}

/** Returns whether the details of a heartbeat are the notifier's state. */
export const isNotifierState = (details: unknown): details is NotifierState =>
  isRecord(details) && typeof details["from"] === "number";

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
