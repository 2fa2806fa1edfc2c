import { readAnswer } from "@durable-payments/activities/answers";
import { type Delivery, notifierId, testNotificationUpdate } from "@durable-payments/protocol";
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import * as Result from "effect/Result";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { countPollers, noWorker } from "../connection/workers.ts";
import { ConnectionFailed, refused } from "../errors.ts";

/** The attempt itself takes 10 seconds at most. */
const ANSWER_WITHIN_MS = 20_000;

/**
 * Have the notifier post one test notification. The worker posts it, by its own settings: that it
 * arrives shows that the worker has the right ones, which those of this process would not.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns what became of it: the status of the answer, or why there is none.
 * @throws ConnectionFailed where no worker polls or answers; Refused where the workers have no
 *   address for notifications.
 * @example
 * const { isDelivered, status, why } = await testNotification(temporal);
 */
export const testNotification = async (temporal: Temporal): Promise<Delivery> => {
  const { client, connection, settings } = temporal;
  const { namespace, taskQueue } = settings;
  const handle = client.workflow.getHandle(notifierId(taskQueue));
  if ((await countPollers(temporal, "workflow")) === 0) {
    throw new ConnectionFailed({ reason: "noWorker", ...noWorker(taskQueue, namespace) });
  }
  try {
    const answer = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      handle.executeUpdate<unknown, []>(testNotificationUpdate.name),
    );
    return Result.getOrThrowWith(readAnswer.delivery(answer), (fault) =>
      refused(
        `What runs as ${notifierId(taskQueue)} does not say what became of the notification. ${fault} Somebody may have started it instead of a worker.`,
        { operation: "describe", workflowId: notifierId(taskQueue) },
      ),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw refused(
        `No notifier runs on task queue "${taskQueue}" in namespace "${namespace}": set PAYMENTS_NOTIFY_URL and PAYMENTS_NOTIFY_SECRET of the worker, and start it again. Nothing was posted.`,
      );
    }
    const isLate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isNoAnswer(error);
    // Its one attempt was lost with its worker.
    if (!isLate && !(error instanceof WorkflowUpdateFailedError)) throw error;
    throw new ConnectionFailed({
      reason: "noWorker",
      message: `No worker on task queue "${taskQueue}" has answered within ${ANSWER_WITHIN_MS / 1000} s: it is gone, or busy. The test notification may still be posted.`,
      next: { operation: "doctor" },
    });
  }
};
