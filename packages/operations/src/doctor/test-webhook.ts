import { type Delivery, notifierId, testNotificationUpdate } from "@durable-payments/protocol";
import { isRecord } from "@durable-payments/api-core/values";
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { noWorker } from "../connection/pollers.ts";
import type { Temporal } from "../connection/temporal.ts";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import { ConnectionFailed, refused } from "../errors.ts";

/** The attempt itself takes 10 seconds at most. */
const ANSWER_WITHIN_MS = 20_000;

const isDelivery = (answer: unknown): answer is Delivery =>
  isRecord(answer) && typeof answer["isDelivered"] === "boolean" && "tookMs" in answer;

/**
 * Has the notifier post one test notification. The worker posts it, by its own settings: that it arrives shows that the
 * worker has the right ones, which those of this process would not.
 *
 * @returns what became of it: the status of the answer, or why there is none.
 * @throws ConnectionFailed where no worker polls or answers; Refused where the workers have no address for it.
 */
export const testWebhook = async (temporal: Temporal): Promise<Delivery> => {
  const { client, connection, settings } = temporal;
  const { taskQueue } = settings;
  const missing = await noWorker(client, taskQueue);
  if (missing !== undefined) throw new ConnectionFailed({ reason: "noWorker", ...missing });
  try {
    const answer = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow
        .getHandle(notifierId(taskQueue))
        .executeUpdate<unknown, []>(testNotificationUpdate.name),
    );
    if (isDelivery(answer)) return answer;
    throw refused(`What runs as ${notifierId(taskQueue)} is not the notifier of a worker.`);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw refused(
        `No notifier runs on task queue "${taskQueue}": set PAYMENTS_NOTIFY_URL and PAYMENTS_NOTIFY_SECRET of the worker, and restart it. Nothing was posted.`,
      );
    }
    const isLate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isNoAnswer(error);
    // Its one attempt was lost with its worker.
    if (!isLate && !(error instanceof WorkflowUpdateFailedError)) throw error;
    throw new ConnectionFailed({
      reason: "noWorker",
      message: `No worker on task queue "${taskQueue}" answered within ${ANSWER_WITHIN_MS / 1000} s. The test notification may still be posted.`,
      next: { operation: "doctor" },
    });
  }
};
