import type { UpdateDefinition } from "@temporalio/common";

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
