import type { OwnOperations } from "@durable-payments/activities";
import type { ClientSettings } from "@durable-payments/api-core";

/** An amount for each currency as decimal strings: `{ USD: "10000.00" }`. */
export type AmountLimits = Readonly<Record<string, string>>;

/** What belongs to one account with the payment service. */
export interface AccountSettings extends Partial<ClientSettings> {
  /**
   * Largest amount of one payout, card or withdrawal, by currency. Once it is set, nothing is paid in a currency that it
   * does not list. Kept in the ledger for all workers. Default: `PAYMENTS_MAX_AMOUNTS`, or else no limit.
   */
  readonly maxAmounts?: AmountLimits;
  /**
   * Amounts above which a second person has to approve, by currency. Once it is set, every amount of a currency that it
   * does not list needs approval. Kept in the ledger for all workers. Default: `PAYMENTS_APPROVE_ABOVE`, or else what
   * workflows ask for themselves.
   */
  readonly approveAbove?: AmountLimits;
  /**
   * Activities begun in a second for the account by all workers of the task queue together; above 0. Give every worker
   * the same. Default: `PAYMENTS_FLEET_ACTIVITIES_PER_SECOND`, or else no limit.
   */
  readonly activitiesPerSecond?: number;
}

/** Where the worker posts which runs ask, fail or are overdue. */
export interface NotifySettings {
  /** Absolute address; https, or http to this machine. Default: `PAYMENTS_NOTIFY_URL`. */
  readonly url?: string;
  /** Signs what is posted: `whsec_` and 24 to 64 bytes in base64. Default: `PAYMENTS_NOTIFY_SECRET`. */
  readonly secret?: string;
  /** Seconds between two looks at what has happened. Default: `PAYMENTS_NOTIFY_INTERVAL_SECONDS`, or else 15. */
  readonly intervalSeconds?: number;
  /** Hours after which a run that is open is overdue. Default: `PAYMENTS_NOTIFY_OVERDUE_HOURS`, or else 120. */
  readonly overdueHours?: number;
  /** Address of Temporal's Web UI, for links, such as `http://localhost:8233`. Default: `TEMPORAL_UI_URL`, or else no links. */
  readonly webUi?: string;
}

/** That a worker polls all its task queues, and where. */
export interface Polling {
  /** The Temporal namespace. */
  readonly namespace: string;
  /** The base queue, which the worker was created with; the others are named after it. */
  readonly taskQueue: string;
  /** Where the ledger is, in words, without a password. */
  readonly ledger: string;
  /** Where it answers `/livez`, `/readyz` and `/metrics`, as `HOST:PORT`; left out where it does not. */
  readonly health?: string;
}

/**
 * Settings of {@link PaymentsPlugin}. What is left out comes from the environment variable that it names as its default,
 * the same as those of the command `payments-worker`; `baseUrl`, `clientId` and `apiKey` from `PAYMENTS_BASE_URL`,
 * `PAYMENTS_CLIENT_ID` and `PAYMENTS_API_KEY`.
 */
export interface PaymentsSettings extends AccountSettings {
  /**
   * Where the ledger of writes is: `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`, or `memory` for tests.
   * Workers on more than one host need PostgreSQL. Default: `PAYMENTS_LEDGER`, or else a file of the client in the user's
   * state folder (`~/.local/state/durable-payments`).
   */
  readonly ledger?: string;
  /**
   * Further accounts by their names, each with credentials of its own. What an account leaves out is as in the other
   * settings, except its credentials. A name has 1 to 40 lower-case letters, digits and dashes. Default: the file that
   * `PAYMENTS_ACCOUNTS_FILE` names, or else none.
   */
  readonly accounts?: Readonly<Record<string, AccountSettings>>;
  /** Operations of your own that workflows send, by the names that `ownOperation` gives them. Default: none. */
  readonly operations?: OwnOperations;
  /** The part of `activitiesPerSecond` that batches may use, above 0 and below 1. Default: `PAYMENTS_FLEET_BATCH_SHARE`, or else 0.5. */
  readonly batchShare?: number;
  /** Where it is posted which runs ask, fail or are overdue. Default: `PAYMENTS_NOTIFY_*`, or else nowhere. */
  readonly notify?: NotifySettings;
  /**
   * Where the worker says by HTTP whether it lives (`/livez`) and takes work (`/readyz`), and its metrics (`/metrics`;
   * those of the SDK where the `Runtime` has an exporter for Prometheus): a port of the loopback address, or `HOST:PORT`;
   * port 0 is any that is free. Default: `PAYMENTS_HEALTH_ADDRESS`, or else nowhere.
   */
  readonly healthAddress?: string | number;
  /** Called once when the worker polls all its task queues, for a readiness check or a line in a log. Default: nothing. */
  readonly onReady?: (polling: Polling) => void;
}
