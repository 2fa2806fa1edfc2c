import { clientVariables, writtenSettings } from "@durable-payments/client/settings";
import { msToNumber } from "@temporalio/common/lib/time.js";
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { readDuration } from "./inputs.ts";
import { ACCOUNT_NAME } from "./names.ts";

/*
 * The settings of an installation, each declared once. Its docstring is its description in docs/settings.md and
 * docs/settings.schema.json: the first paragraph, with its default in words after `@default`. The client
 * declares and describes its own settings.
 */

/** Settings that may each be left out. */
const optional = <Fields extends Readonly<Record<string, Schema.Top>>>(fields: Fields) =>
  Schema.Struct(Struct.map(fields, Schema.optionalKey));

const Text = Schema.NonEmptyString;

const above0 = (maximum: number) =>
  Schema.Finite.check(
    Schema.isBetween(
      { minimum: 0, exclusiveMinimum: true, maximum },
      { message: `must be a number above 0, up to ${maximum}` },
    ),
  );

/** Shortest time in days for which the ledger keeps texts and logs. */
const LEAST_DAYS = 90;

const Days = Schema.Finite.check(
  Schema.isGreaterThanOrEqualTo(LEAST_DAYS, { message: `must be at least ${LEAST_DAYS} days` }),
);

/** A ledger keeps the amounts of completed payouts at least as long as they are watched. */
const LONGEST_WATCH = "90 days";

const Watch = Schema.String.check(
  Schema.makeFilter((text: string) => {
    const ms = readDuration(text) ?? -1;
    const isIt = ms >= 0 && ms <= msToNumber(LONGEST_WATCH);
    return (
      isIt || `must be a duration, such as "30 days": at most ${LONGEST_WATCH}; 0 watches none`
    );
  }),
);

const like = (pattern: RegExp, message: string) =>
  Schema.String.check(Schema.isPattern(pattern, { message }));

const AMOUNTS =
  'must be an object of decimal strings by currency, such as {"USD": "10000.00"}; leave it out to set no limit';

/** Limits by currency. An invalid or blank value must not mean "no limit". */
const Amounts = Schema.Record(Schema.String, Schema.String)
  .annotate({ message: AMOUNTS })
  .check(
    Schema.makeFilter(
      (amounts: Readonly<Record<string, string>>) =>
        Object.entries(amounts).every(
          ([currency, amount]) =>
            /^[A-Z]{3}$/.test(currency) && /^\d{1,15}(\.\d{1,4})?$/.test(amount),
        ) || AMOUNTS,
      {
        toJsonSchema: () => ({
          patternProperties: { "^[A-Z]{3}$": { type: "string", pattern: "^\\d+(\\.\\d+)?$" } },
        }),
      },
    ),
  );

const PORT =
  /^(?:(?:\[[^[\]]+\]|[^[\]:\s]+):)?(?:6553[0-5]|655[0-2]\d|65[0-4]\d\d|6[0-4]\d{3}|[1-5]?\d{1,4})$/u;

/** Temporal joins the name of a deployment and its build id by a dot or a colon. */
const DEPLOYMENT = /^(?!__)[^\s.:]{1,100}$/u;
const BUILD_ID = /^(?!__)[^\s:]{1,100}$/u;

/** Settings of an account with the service; the file's `accounts` have the same. */
const accountSettings = {
  ...writtenSettings,
  /**
   * Maximum amount of one payout, card or withdrawal that this worker sends, by currency. Other currencies are refused. It only tightens the account's limits (durable-payments limits).
   *
   * Decimal strings: `{ USD: "10000.00" }`.
   *
   * @default no limit
   */
  maxAmounts: Amounts,
  /**
   * Amounts above which a second person must approve what this worker sends, by currency. Other currencies always need approval. It only tightens the account's limits (durable-payments limits).
   *
   * Decimal strings: `{ USD: "1000.00" }`.
   *
   * @default set by each input
   */
  approveAbove: Amounts,
  /**
   * Maximum activities per second of all workers together. Use the same value for every worker.
   *
   * @default no limit
   */
  activitiesPerSecond: Schema.Finite.check(
    Schema.isGreaterThan(0, { message: "must be a number above 0" }),
  ),
};

/** All settings that a file or the environment can hold. */
export const SettingsSchema = optional({
  /** Address of this schema, for an editor. */
  $schema: Schema.String,
  ...accountSettings,
  /** Further accounts by name, each with its own clientId and apiKeyFile. Settings that an account leaves out are taken from the top level of the file. */
  accounts: Schema.Record(
    Schema.String.check(Schema.isPattern(ACCOUNT_NAME)),
    optional(accountSettings),
  ),
  /**
   * Database of the ledger: `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`, or `memory` for tests. For
   * PostgreSQL, `?connection_limit=10` sets the maximum connections of a process; the default is 5.
   *
   * @default a file per client id in ~/.local/state/durable-payments
   */
  ledger: Text,
  /**
   * Folder with the keys that encrypt what Temporal and the ledger store.
   *
   * @default no encryption
   */
  keyring: Text,
  /**
   * Days for which prune keeps texts, payees and logs of completed runs: at least 90.
   *
   * @default 90
   */
  keepDays: Days,
  /**
   * Time for which a payout is read again after it completed, so that money that comes back is noticed: at most 90 days.
   * 0 turns it off.
   *
   * @default 30 days
   */
  watchCompletedFor: Watch,
  /**
   * Module that exports `dataConverter`, for what Temporal stores: a path or a package name. It does not encrypt the
   * ledger: set keyring as well.
   */
  dataConverter: Text,
  /**
   * Task queue of the workers. The names of other queues are derived from it.
   *
   * @default payments
   */
  taskQueue: Text,
  /**
   * Allows a Temporal server on another host without TLS. Use it only if the network encrypts its traffic.
   *
   * @default false
   */
  allowPlainTextTemporal: Schema.Boolean,
  /**
   * Share of activitiesPerSecond that batches may use: above 0, up to 1.
   *
   * @default 0.5
   */
  batchShare: above0(1),
  /** Deployment name for Temporal's Worker Versioning. */
  deploymentName: like(
    DEPLOYMENT,
    "must have at most 100 characters, without spaces, dots or colons, and must not begin with __",
  ),
  /** Build id for Temporal's Worker Versioning. */
  buildId: like(
    BUILD_ID,
    "must have at most 100 characters, without spaces or colons, and must not begin with __",
  ),
  /**
   * Where to serve /livez, /readyz and /metrics: a port on 127.0.0.1, or HOST:PORT.
   *
   * @default off
   */
  healthAddress: like(PORT, "must be a port, or HOST:PORT such as 0.0.0.0:9464"),
  /**
   * Minimum level of the worker's log. In a program of your own, pass PaymentsPlugin to NativeConnection.connect.
   *
   * @default WARN
   */
  logLevel: Schema.Literals(["TRACE", "DEBUG", "INFO", "WARN", "ERROR"]),
  /**
   * Format of the worker's log.
   *
   * @default text
   */
  logFormat: Schema.Literals(["json", "text"]),
  /** Webhook to which the events of all accounts are delivered. */
  notify: optional({
    /**
     * Address of the webhook: https, or http on this machine.
     *
     * @default off
     */
    url: Text,
    /**
     * Secret that signs each notification: whsec_ and 24 to 64 bytes in base64.
     *
     * @default required with the URL
     */
    secret: Text,
    /**
     * Seconds between two looks for events.
     *
     * @default 15
     */
    intervalSeconds: above0(3_600),
    /**
     * Hours after which an open run counts as overdue.
     *
     * @default 120
     */
    overdueHours: above0(8_760),
    /**
     * Hours after the end of its payment date (UTC) after which a payout that has not completed is late.
     *
     * @default 24
     */
    lateAfterHours: above0(8_760),
    /** Address of Temporal's Web UI, for links. */
    webUi: Text,
  }),
  /** Signed hints of the service that a payout or cardholder has changed. They only make its next reading earlier. */
  hints: optional({
    /**
     * Where the worker receives hints by POST: a port on 127.0.0.1, or HOST:PORT. Put a proxy with TLS in front of it.
     *
     * @default off
     */
    address: like(PORT, "must be a port, or HOST:PORT such as 0.0.0.0:9465"),
    /**
     * Secret of their signatures by Standard Webhooks: whsec_ and 24 to 64 bytes in base64.
     *
     * @default required with the address
     */
    secret: Text,
    /**
     * Fields of the payload that may have the id, the first one first. The service's document does not show them.
     *
     * @default payout_id, card_holder_id, data.payout_id, data.card_holder_id
     */
    idFields: Schema.Array(Text),
  }),
  /** Settings of the codec server. */
  codecServer: optional({
    /** JSON file of users and their roles. It is reloaded for each request. */
    usersFile: Text,
    /** Certificate of the server, PEM. Without it, the server accepts only requests from this machine. */
    certFile: Text,
    /** Private key of the certificate, PEM. */
    keyFile: Text,
    /** Signed tokens (JWT) that are accepted. All three settings are required. */
    tokens: Schema.Struct({
      /** Address of the issuer's public keys (JWKS). */
      jwksUrl: Text,
      /** Issuer that a token must name (iss). */
      issuer: Text,
      /** Audience that a token must name (aud). */
      audience: Text,
    }),
  }),
});

/** Names of the settings of an account. */
export const accountSettingNames: ReadonlyArray<string> = Object.keys(accountSettings);

/** The environment variables that override settings, by the names of those. */
export const settingVariables: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...clientVariables,
    maxAmounts: "PAYMENTS_MAX_AMOUNTS",
    approveAbove: "PAYMENTS_APPROVE_ABOVE",
    ledger: "PAYMENTS_LEDGER",
    keyring: "PAYMENTS_KEYRING",
    taskQueue: "PAYMENTS_TASK_QUEUE",
    watchCompletedFor: "PAYMENTS_WATCH_COMPLETED_FOR",
    allowPlainTextTemporal: "PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL",
    deploymentName: "PAYMENTS_DEPLOYMENT_NAME",
    buildId: "PAYMENTS_BUILD_ID",
    healthAddress: "PAYMENTS_HEALTH_ADDRESS",
    logLevel: "PAYMENTS_LOG_LEVEL",
    logFormat: "PAYMENTS_LOG_FORMAT",
    "notify.url": "PAYMENTS_NOTIFY_URL",
    "notify.secret": "PAYMENTS_NOTIFY_SECRET",
    "notify.webUi": "TEMPORAL_UI_URL",
    "hints.secret": "PAYMENTS_HINTS_SECRET",
  }),
);
