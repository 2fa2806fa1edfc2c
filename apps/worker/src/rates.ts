import type { QueueRates, SignInBudget } from "@durable-payments/activities";
import { CannotStart } from "./cannot-start.ts";

const positive = (variable: string, below = Infinity): number | undefined => {
  const text = process.env[variable]?.trim() ?? "";
  if (text === "") return undefined;
  const value = Number(text);
  if (value > 0 && value < below) return value;
  const bounds = below === Infinity ? "above 0" : `above 0 and below ${below}`;
  throw new CannotStart(`${variable} must be a number ${bounds}, or not be set.`);
};

/**
 * The rate of all workers together, from the environment.
 *
 * @throws CannotStart
 */
export const ratesFromEnvironment = (): QueueRates => {
  const activitiesPerSecond = positive("PAYMENTS_FLEET_ACTIVITIES_PER_SECOND");
  return {
    activitiesPerSecond,
    batchShare: positive("PAYMENTS_FLEET_BATCH_SHARE", 1),
    fallbackPollingPerSecond: positive(
      "PAYMENTS_FLEET_FALLBACK_POLLING_PER_SECOND",
      activitiesPerSecond,
    ),
  };
};

/** What the service allows is 50. */
const SIGN_INS_BELOW = 50;

/**
 * The sign-ins of all workers together, from the environment.
 *
 * @throws CannotStart
 */
export const signInBudgetFromEnvironment = (): SignInBudget => {
  const variable = "PAYMENTS_FLEET_SIGN_INS_PER_MINUTE";
  const perMinute = positive(variable, SIGN_INS_BELOW);
  if (perMinute === undefined || Number.isInteger(perMinute)) return { perMinute };
  throw new CannotStart(`${variable} must be a whole number.`);
};
