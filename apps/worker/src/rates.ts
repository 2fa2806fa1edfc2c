import type { QueueRates } from "@durable-payments/activities";
import { CannotStart } from "./cannot-start.ts";

const positive = (variable: string): number | undefined => {
  const text = process.env[variable]?.trim() ?? "";
  if (text === "") return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new CannotStart(`${variable} must be a number above 0, or not be set.`);
};

/**
 * The rates of all workers together, from the environment.
 *
 * @throws CannotStart
 */
export const ratesFromEnvironment = (): QueueRates => ({
  activitiesPerSecond: positive("PAYMENTS_FLEET_ACTIVITIES_PER_SECOND"),
  safetyNetPerSecond: positive("PAYMENTS_FLEET_SAFETY_NET_PER_SECOND"),
});
