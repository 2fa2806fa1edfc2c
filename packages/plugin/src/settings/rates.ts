import type { QueueRates, SignInBudget } from "@durable-payments/activities";
import { CannotStart } from "../cannot-start.ts";
import type { AccountSettings } from "./payments-settings.ts";
import type { Environment } from "./worker-process.ts";

interface Source {
  /** Name of the setting, and its value where it is given. */
  readonly setting: string;
  readonly given: number | undefined;
  /** The variable that counts where it is not given. */
  readonly variable: string;
}

const fromEnvironment = (variable: string, environment: Environment): number | undefined => {
  const text = environment[variable]?.trim() ?? "";
  return text === "" ? undefined : Number(text);
};

/** By the name of the setting or variable that has the value. */
const named = ({ given, setting, variable }: Source): string =>
  given === undefined ? variable : setting;

const positive = (
  source: Source,
  environment: Environment,
  below = Infinity,
): number | undefined => {
  const value: unknown = source.given ?? fromEnvironment(source.variable, environment);
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && value < below) return value;
  const bounds = below === Infinity ? "above 0" : `above 0 and below ${below}`;
  throw new CannotStart(`${named(source)} must be a number ${bounds}, or not be set.`);
};

/**
 * Read the rate of all workers of an account together.
 *
 * @throws CannotStart
 */
export const readRates = (settings: AccountSettings, environment: Environment): QueueRates => {
  const activitiesPerSecond = positive(
    {
      setting: "activitiesPerSecond",
      given: settings.activitiesPerSecond,
      variable: "PAYMENTS_FLEET_ACTIVITIES_PER_SECOND",
    },
    environment,
  );
  return {
    activitiesPerSecond,
    batchShare: positive(
      {
        setting: "batchShare",
        given: settings.batchShare,
        variable: "PAYMENTS_FLEET_BATCH_SHARE",
      },
      environment,
      1,
    ),
    fallbackPollingPerSecond: positive(
      {
        setting: "fallbackPollingPerSecond",
        given: settings.fallbackPollingPerSecond,
        variable: "PAYMENTS_FLEET_FALLBACK_POLLING_PER_SECOND",
      },
      environment,
      activitiesPerSecond,
    ),
  };
};

/** What the service allows is 50. */
const SIGN_INS_BELOW = 50;

/**
 * Read the sign-ins of all workers of an account together.
 *
 * @throws CannotStart
 */
export const readSignInBudget = (
  { signInsPerMinute }: AccountSettings,
  environment: Environment,
): SignInBudget => {
  const source = {
    setting: "signInsPerMinute",
    given: signInsPerMinute,
    variable: "PAYMENTS_FLEET_SIGN_INS_PER_MINUTE",
  };
  const perMinute = positive(source, environment, SIGN_INS_BELOW);
  if (perMinute === undefined || Number.isInteger(perMinute)) return { perMinute };
  throw new CannotStart(`${named(source)} must be a whole number.`);
};
