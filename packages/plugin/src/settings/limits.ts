import {
  type AmountLimits,
  type NotificationSettings,
  readAmountLimits,
  readNotificationSettings,
} from "@durable-payments/activities";
import { messageOf } from "@durable-payments/api-core/values";
import { CannotStart } from "../cannot-start.ts";
import type { AccountSettings, PaymentsSettings } from "./payments-settings.ts";
import type { Environment } from "./worker-process.ts";

const orCannotStart = <A>(read: () => A): A => {
  try {
    return read();
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};

const readLimits = (
  setting: "maxAmounts" | "approveAbove",
  given: AmountLimits | undefined,
  variable: string,
  environment: Environment,
): AmountLimits | undefined =>
  orCannotStart(() =>
    given === undefined
      ? readAmountLimits(variable, environment[variable])
      : readAmountLimits(setting, JSON.stringify(given)),
  );

/** What a worker's activities may do without a second person, or at all. */
export interface Limits {
  readonly maxAmounts?: AmountLimits;
  readonly approveAbove?: AmountLimits;
}

/**
 * Read the limits of amounts of an account.
 *
 * @throws CannotStart
 */
export const readLimitsOf = (settings: AccountSettings, environment: Environment): Limits => {
  const maxAmounts = readLimits(
    "maxAmounts",
    settings.maxAmounts,
    "PAYMENTS_MAX_AMOUNTS",
    environment,
  );
  const approveAbove = readLimits(
    "approveAbove",
    settings.approveAbove,
    "PAYMENTS_APPROVE_ABOVE",
    environment,
  );
  return { ...(maxAmounts && { maxAmounts }), ...(approveAbove && { approveAbove }) };
};

/**
 * Read where notifications go; undefined where nobody is notified.
 *
 * @throws CannotStart
 */
export const readNotifications = (
  { notify = {} }: PaymentsSettings,
  environment: Environment,
): NotificationSettings | undefined => {
  const given = {
    PAYMENTS_NOTIFY_URL: notify.url,
    PAYMENTS_NOTIFY_SECRET: notify.secret,
    PAYMENTS_NOTIFY_INTERVAL_SECONDS: notify.intervalSeconds?.toString(),
    PAYMENTS_NOTIFY_OVERDUE_HOURS: notify.overdueHours?.toString(),
    TEMPORAL_UI_URL: notify.webUi,
  };
  const isGiven = Object.entries(given).filter(([, value]) => value !== undefined);
  return orCannotStart(() =>
    readNotificationSettings({ ...environment, ...Object.fromEntries(isGiven) }),
  );
};
