import type { PaymentsRuntime } from "@durable-payments/activities";
import {
  type ClientLogger,
  type ClientOptions,
  currentApiKey,
  PaymentsClient,
} from "@durable-payments/client/effect";
import { accountHash } from "@durable-payments/protocol/account";
import { clientOptionsOf, type AccountSettings } from "@durable-payments/protocol/settings";
import { Runtime } from "@temporalio/worker";
import { ManagedRuntime, Redacted, Result } from "effect";
import { CannotStart, type WorkerSettings } from "./settings.ts";

/** An account with the service, as a worker serves it. */
export interface Account {
  /** Undefined for the one without a name. */
  readonly name: string | undefined;
  readonly hash: string;
  readonly settings: AccountSettings;
  readonly options: ClientOptions;
  /** Holds the client, with its session and its connections; dispose it when the worker has drained. */
  readonly runtime: PaymentsRuntime;
}

/** The accounts of a worker; the first account uses the base queue. */
export type Accounts = readonly [Account, ...ReadonlyArray<Account>];

/** A send, and the one after a new sign-in: tokens expire in the middle of a run. */
const LEAST_ATTEMPTS = 2;

/** A call that would wait longer gives up its activity slot: Temporal retries it later. */
const LONGEST_WAIT_MS = 5_000;

/** The client writes to the worker's log. */
const logger: ClientLogger = {
  debug: (message) => void Runtime.instance().logger.debug(message),
  warn: (message) => void Runtime.instance().logger.warn(message),
};

const checkedOptions = (settings: AccountSettings): ClientOptions => {
  const read = clientOptionsOf({ logger, maxRetryWaitMs: LONGEST_WAIT_MS, ...settings });
  if (Result.isFailure(read)) throw new CannotStart(read.failure.message);
  if (read.success.maxAttempts >= LEAST_ATTEMPTS) return read.success;
  throw new CannotStart(
    `maxAttempts must be at least ${LEAST_ATTEMPTS} for a worker: it may have to sign in again and resend.`,
  );
};

/** Refuses two names for one client, which would send at twice its rate, and one API key for two accounts. */
const refuseAlike = (own: ClientOptions, { name = "without a name", options: other }: Account) => {
  if (own.clientId === other.clientId) {
    throw new CannotStart(
      `It has the same client id as the account ${name}: an account can have only one name.`,
    );
  }
  if (Redacted.value(currentApiKey(own)) === Redacted.value(currentApiKey(other))) {
    throw new CannotStart(
      `It has the same API key as the account ${name}: each account needs its own.`,
    );
  }
};

/**
 * Opens the accounts of a worker: nothing is sent, and nothing is connected yet.
 *
 * @throws CannotStart for a setting that is missing or wrong; its message begins with the name of the account.
 */
export const openAccounts = ({ accounts }: WorkerSettings): Accounts => {
  const opened: Array<Account> = [];
  for (const [name, settings] of accounts) {
    try {
      const options = checkedOptions(settings);
      for (const other of opened) refuseAlike(options, other);
      const runtime = ManagedRuntime.make(PaymentsClient.layer(options));
      opened.push({ name, hash: accountHash(options), settings, options, runtime });
    } catch (error) {
      if (name === undefined || !(error instanceof CannotStart)) throw error;
      throw new CannotStart(`The account ${name}: ${error.message}`);
    }
  }
  const [first, ...others] = opened;
  if (first === undefined) throw new CannotStart("The worker has no account.");
  return [first, ...others];
};
