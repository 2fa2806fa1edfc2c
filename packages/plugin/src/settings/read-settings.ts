import { type NotificationSettings, readNotificationSettings } from "@durable-payments/activities";
import { canonicalDecimal, isRecord, messageOf } from "@durable-payments/api-core/values";
import type { Limits } from "@durable-payments/ledger";
import { CannotStart } from "../cannot-start.ts";
import type { AccountSettings, AmountLimits, PaymentsSettings } from "./payments-settings.ts";
import type { Environment } from "./worker-process.ts";

interface Source {
  /** The setting, and the variable that counts where it is not given. */
  readonly setting: string;
  readonly variable: string;
}

const positive = (
  { setting, variable }: Source,
  given: number | undefined,
  environment: Environment,
  below = Infinity,
): number | undefined => {
  const text = environment[variable]?.trim() ?? "";
  const value: unknown = given ?? (text === "" ? undefined : Number(text));
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && value < below) return value;
  const bounds = below === Infinity ? "above 0" : `above 0 and below ${below}`;
  const name = given === undefined ? variable : setting;
  throw new CannotStart(`${name} must be a number ${bounds}, or not be set.`);
};

/**
 * Reads how many activities all workers of an account's task queue begin in a second; undefined for no limit.
 *
 * @throws CannotStart
 */
export const readActivitiesPerSecond = (
  { activitiesPerSecond }: AccountSettings,
  environment: Environment,
): number | undefined =>
  positive(
    { setting: "activitiesPerSecond", variable: "PAYMENTS_FLEET_ACTIVITIES_PER_SECOND" },
    activitiesPerSecond,
    environment,
  );

const DEFAULT_BATCH_SHARE = 0.5;

/**
 * Reads the part of the rate that batches may use.
 *
 * @throws CannotStart
 */
export const readBatchShare = (
  { batchShare }: PaymentsSettings,
  environment: Environment,
): number =>
  positive(
    { setting: "batchShare", variable: "PAYMENTS_FLEET_BATCH_SHARE" },
    batchShare,
    environment,
    1,
  ) ?? DEFAULT_BATCH_SHARE;

/** A limit that cannot be read, or is blank, must not be no limit. */
const amountLimits = (
  { setting, variable }: Source,
  given: AmountLimits | undefined,
  environment: Environment,
): AmountLimits | null => {
  const text = given === undefined ? environment[variable] : JSON.stringify(given);
  if (text === undefined) return null;
  const fault = new CannotStart(
    `${given === undefined ? variable : setting} must be a JSON object of decimal strings by currency, each once, such as {"USD": "10000.00"}; leave it out to set no limit.`,
  );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw fault;
  }
  if (!isRecord(json)) throw fault;
  const limits = Object.entries(json).map(([currency, limit]) => {
    const isLimit = typeof limit === "string" && canonicalDecimal(limit) !== undefined;
    if (!/^[A-Z]{3}$/.test(currency) || !isLimit) throw fault;
    return [currency, limit] as const;
  });
  // Of two of one name JSON.parse keeps the last, and says nothing. No name or amount has a colon in it.
  if (text.split(":").length - 1 !== limits.length) throw fault;
  return Object.fromEntries(limits);
};

/**
 * Reads the limits of amounts of an account.
 *
 * @throws CannotStart
 */
export const readLimits = (settings: AccountSettings, environment: Environment): Limits => ({
  maxAmounts: amountLimits(
    { setting: "maxAmounts", variable: "PAYMENTS_MAX_AMOUNTS" },
    settings.maxAmounts,
    environment,
  ),
  approveAbove: amountLimits(
    { setting: "approveAbove", variable: "PAYMENTS_APPROVE_ABOVE" },
    settings.approveAbove,
    environment,
  ),
});

/**
 * Reads where notifications go; undefined where nobody is notified.
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
  try {
    return readNotificationSettings({ ...environment, ...Object.fromEntries(isGiven) });
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};
