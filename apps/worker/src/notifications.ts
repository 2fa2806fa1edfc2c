import { type NotificationSettings, readNotificationSettings } from "@durable-payments/activities";
import { messageOf } from "@durable-payments/api-core/values";
import { CannotStart } from "./cannot-start.ts";

/**
 * Where notifications go, from the environment; undefined where nobody is notified.
 *
 * @throws CannotStart
 */
export const notificationsFromEnvironment = (): NotificationSettings | undefined => {
  try {
    return readNotificationSettings(process.env);
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};
