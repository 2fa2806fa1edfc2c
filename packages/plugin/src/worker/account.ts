import { makeSignInLeases, type PaymentsRuntime } from "@durable-payments/activities";
import {
  type ClientLogger,
  type ClientOptions,
  clientOptionsWithEnvironment,
  currentApiKey,
  PaymentsClient,
  SignInLease,
} from "@durable-payments/api-core";
import type { Client } from "@temporalio/client";
import { Runtime } from "@temporalio/worker";
import {
  Cause,
  ConfigProvider,
  Effect,
  Exit,
  Layer,
  ManagedRuntime,
  Redacted,
  Result,
} from "effect";
import { CannotStart } from "../cannot-start.ts";
import { type Accounts, inAccount } from "../settings/accounts.ts";
import { clientSettingsOf } from "../settings/known-settings.ts";
import type { AccountSettings } from "../settings/payments-settings.ts";
import type { Environment, WorkerProcess } from "../settings/worker-process.ts";
import { readLimitsOf } from "../settings/limits.ts";
import { readRates, readSignInBudget } from "../settings/rates.ts";
import { type OpenedJournal, openJournalOf } from "./journal.ts";

/** An account with the service as a worker works for it: its client and its journal, opened. */
export interface Account {
  readonly settings: AccountSettings;
  readonly options: ClientOptions;
  /** Holds the client, with its session and its connections. */
  readonly runtime: PaymentsRuntime;
  readonly opened: OpenedJournal;
  /** Closes connections and journal; what is under way ends. */
  readonly close: () => Promise<void>;
}

/** The value of an exit; its error is thrown as one that keeps a worker from starting. */
const orCannotStart = <A>(exit: Exit.Exit<A, { readonly message: string }>): A => {
  if (Exit.isSuccess(exit)) return exit.value;
  const failed = Cause.findError(exit.cause);
  throw Result.isSuccess(failed)
    ? new CannotStart(failed.success.message)
    : Cause.squash(exit.cause);
};

/** A send, and the one after a new sign-in: tokens expire in the middle of a run. */
const LEAST_ATTEMPTS = 2;

/** What the client has to say stands in the worker's log. */
const logger: ClientLogger = {
  debug: (message) => void Runtime.instance().logger.debug(message),
  warn: (message) => void Runtime.instance().logger.warn(message),
};

/** The checked settings of an account's client; the environment counts for what they leave out. */
const clientOptionsOf = async (
  settings: AccountSettings,
  environment: Environment,
): Promise<ClientOptions> => {
  const options = orCannotStart(
    await Effect.runPromiseExit(
      clientOptionsWithEnvironment({ logger, ...clientSettingsOf(settings) }).pipe(
        // That of the worker's process, which a test may have made up.
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromEnvRecord(environment),
        ),
      ),
    ),
  );
  if (options.maxAttempts >= LEAST_ATTEMPTS) return options;
  throw new CannotStart(
    `PAYMENTS_MAX_ATTEMPTS (maxAttempts) must be at least ${LEAST_ATTEMPTS} for a worker: the second one is the send after a new sign-in.`,
  );
};

/**
 * Open an account.
 *
 * @param temporal for the sign-ins, of which all workers share one budget.
 * @throws CannotStart where a setting is missing or wrong, or the journal cannot be written.
 */
export const openAccount = async (
  settings: AccountSettings,
  temporal: Client,
  { environment, skipsTime }: WorkerProcess,
): Promise<Account> => {
  const options = await clientOptionsOf(settings, environment);
  const client = PaymentsClient.layer(options);
  const leases = makeSignInLeases(temporal, options, readSignInBudget(settings, environment));
  const opened = await openJournalOf(options, settings, environment);
  const runtime = ManagedRuntime.make(
    skipsTime ? client : Layer.provide(client, Layer.succeed(SignInLease, leases)),
  );
  return {
    settings,
    options,
    runtime,
    opened,
    close: async () => {
      await runtime.dispose();
      await opened.journal.close();
    },
  };
};

/**
 * Check that accounts can be opened: their settings, and that their journals can be written. Nothing stays open.
 *
 * @throws CannotStart
 */
export const checkAccounts = async (
  accounts: Accounts,
  environment: Environment,
): Promise<void> => {
  const known: Array<readonly [name: string | undefined, options: ClientOptions]> = [];
  for (const [name, settings] of accounts) {
    await inAccount(name, async () => {
      readSignInBudget(settings, environment);
      readRates(settings, environment);
      readLimitsOf(settings, environment);
      const options = await clientOptionsOf(settings, environment);
      for (const [otherName, other] of known) refuseAlike(options, other, otherName);
      known.push([name, options]);
      const { journal } = await openJournalOf(options, settings, environment);
      await journal.close();
    });
  }
};

/**
 * Refuse two names for one client, which would send at twice its rate and has one journal, and one API key for two
 * accounts: with the key it is proved that a payment was approved, of one account, and not of another.
 */
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
