import type { PaymentsRuntime } from "@durable-payments/activities";
import {
  type ClientLogger,
  type ClientOptions,
  clientOptionsWithEnvironment,
  currentApiKey,
  PaymentsClient,
} from "@durable-payments/api-core";
import { accountHash } from "@durable-payments/protocol/account";
import { Runtime } from "@temporalio/worker";
import { Cause, ConfigProvider, Effect, Exit, ManagedRuntime, Redacted, Result } from "effect";
import { CannotStart } from "../cannot-start.ts";
import { type Accounts, inAccount } from "../settings/accounts.ts";
import { clientSettingsOf } from "../settings/known-settings.ts";
import type { AccountSettings } from "../settings/payments-settings.ts";
import { readActivitiesPerSecond, readLimits } from "../settings/read-settings.ts";
import type { Environment } from "../settings/worker-process.ts";

/** An account with the service as a worker works for it. */
export interface Account {
  /** Undefined for the one without a name. */
  readonly name: string | undefined;
  readonly hash: string;
  readonly settings: AccountSettings;
  readonly options: ClientOptions;
  /** Holds the client, with its session and its connections; dispose it when the worker has drained. */
  readonly runtime: PaymentsRuntime;
}

/** A send, and the one after a new sign-in: tokens expire in the middle of a run. */
const LEAST_ATTEMPTS = 2;

/** What the client has to say stands in the worker's log. */
const logger: ClientLogger = {
  debug: (message) => void Runtime.instance().logger.debug(message),
  warn: (message) => void Runtime.instance().logger.warn(message),
};

/** Returns the checked settings of an account's client; the environment counts for what they leave out. */
const clientOptionsOf = async (
  settings: AccountSettings,
  environment: Environment,
): Promise<ClientOptions> => {
  const exit = await Effect.runPromiseExit(
    clientOptionsWithEnvironment({ logger, ...clientSettingsOf(settings) }).pipe(
      // That of the worker's process, which a test may have made up.
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnvRecord(environment),
      ),
    ),
  );
  if (Exit.isFailure(exit)) {
    const failed = Cause.findError(exit.cause);
    throw Result.isSuccess(failed)
      ? new CannotStart(failed.success.message)
      : Cause.squash(exit.cause);
  }
  if (exit.value.maxAttempts >= LEAST_ATTEMPTS) return exit.value;
  throw new CannotStart(
    `PAYMENTS_MAX_ATTEMPTS (maxAttempts) must be at least ${LEAST_ATTEMPTS} for a worker: the second one is the send after a new sign-in.`,
  );
};

/**
 * Opens an account: nothing is sent yet.
 *
 * @throws CannotStart where a setting is missing or wrong.
 */
export const openAccount = async (
  name: string | undefined,
  settings: AccountSettings,
  environment: Environment,
): Promise<Account> => {
  const options = await clientOptionsOf(settings, environment);
  const runtime = ManagedRuntime.make(PaymentsClient.layer(options));
  return { name, hash: accountHash(options), settings, options, runtime };
};

/**
 * Checks the settings of accounts.
 *
 * @returns the options of the first account's client.
 * @throws CannotStart
 */
export const checkAccounts = async (
  accounts: Accounts,
  environment: Environment,
): Promise<ClientOptions> => {
  const known: Array<readonly [name: string | undefined, options: ClientOptions]> = [];
  for (const [name, settings] of accounts) {
    await inAccount(name, async () => {
      readActivitiesPerSecond(settings, environment);
      readLimits(settings, environment);
      const options = await clientOptionsOf(settings, environment);
      for (const [otherName, other] of known) refuseAlike(options, other, otherName);
      known.push([name, options]);
    });
  }
  const [first] = known;
  if (first === undefined) throw new CannotStart("The worker has no account.");
  return first[1];
};

/** Refuses two names for one client, which would send at twice its rate, and one API key for two accounts. */
const refuseAlike = (
  own: ClientOptions,
  other: ClientOptions,
  otherName = "without a name",
): void => {
  if (own.clientId === other.clientId) {
    throw new CannotStart(
      `It has the client id of the account ${otherName}: an account has one name.`,
    );
  }
  if (Redacted.value(currentApiKey(own)) === Redacted.value(currentApiKey(other))) {
    throw new CannotStart(`It has the API key of the account ${otherName}: each needs its own.`);
  }
};
