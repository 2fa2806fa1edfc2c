import { clientVariables, defaultClientOptions, writtenSettings } from "@durable-payments/api-core";
import * as Schema from "effect/Schema";
import { ACCOUNT_NAME } from "./names.ts";

/** Further texts of a setting for the reference. */
interface Printed {
  /** Environment variable that overrides it. */
  readonly variable?: string | undefined;
  /** Its default, in words. */
  readonly otherwise?: string | undefined;
}

/** Describes a setting for an editor and for docs/settings.md. */
const setting = <S extends Schema.Top>(schema: S, description: string, printed: Printed = {}) =>
  Schema.optionalKey(schema.annotate({ description, ...printed }));

const Text = Schema.NonEmptyString;
const Flag = Schema.Boolean;

const above0 = (most: number) =>
  Schema.Finite.check(
    Schema.makeFilter(
      (value: number) =>
        (value > 0 && value <= most) ||
        `must be a number above 0${most === Infinity ? "" : `, up to ${most}`}`,
      { toJsonSchema: () => ({ exclusiveMinimum: 0, ...(most < Infinity && { maximum: most }) }) },
    ),
  );

const like = (pattern: RegExp, problem: string) =>
  Schema.String.check(
    Schema.makeFilter((text: string) => pattern.test(text) || problem, {
      toJsonSchema: () => ({ pattern: pattern.source }),
    }),
  );

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
  /^(?:(?:\[[^[\]]+\]|[^[\]:\s]+):)?(?:6553[0-5]|655[0-2]\d|65[0-4]\d\d|6[0-4]\d{3}|[1-5]?\d{1,4})$/;

/** Temporal joins the name of a deployment and its build id by a dot or a colon. */
const DEPLOYMENT = /^(?!__)[^\s.:]{1,100}$/;
const BUILD_ID = /^(?!__)[^\s:]{1,100}$/;

const LOG_LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"] as const;

/** The settings of the client in the words of the reference. */
const CLIENT: Readonly<Record<keyof typeof writtenSettings, string>> = {
  baseUrl: "Address of the service, without /api/v1: https, or http on this machine.",
  clientId: "Client id of the account.",
  apiKey: "API key of the account, a secret. Prefer apiKeyFile.",
  apiKeyFile: "File with the API key. It is reloaded when it changes.",
  proxy: "HTTP proxy to the service, or `none`.",
  caFile: "Trusted CAs, PEM. The file is reloaded when it changes.",
  clientCertFile: "Client certificate with its chain, PEM.",
  clientKeyFile: "Private key of the client certificate, unencrypted PEM.",
  requestTimeoutMs: "Maximum duration of one request, in milliseconds.",
  maxAttempts: "Maximum sends of one call, if it is safe to repeat; a worker needs at least 2.",
  retryBaseMs: "Wait before the second send, in milliseconds; it doubles each time.",
  maxRetryWaitMs: "Maximum wait between sends, in milliseconds.",
  requestsPerSecond: "Maximum requests per second of one process; 0: no limit.",
  maxConnections: "Maximum connections to the service.",
  assumptions: "Assumptions to change for your service: see docs/assumptions.md.",
};

const { assumptions: _, ...defaultNumbers } = defaultClientOptions;

const CLIENT_DEFAULTS: Readonly<Partial<Record<keyof typeof CLIENT, string | number>>> = {
  ...defaultNumbers,
  baseUrl: "required",
  clientId: "required",
  apiKey: "required, or apiKeyFile",
  proxy: "HTTPS_PROXY",
  caFile: "Node's CAs",
};

/** Each setting of the client, which the file and the environment may leave out. */
type ClientFields = {
  readonly [Name in keyof typeof CLIENT]: Schema.optionalKey<(typeof writtenSettings)[Name]>;
};

const clientFields = Object.fromEntries(
  // The same names.
  (Object.keys(writtenSettings) as Array<keyof typeof CLIENT>).map((name) => {
    const schema: Schema.Top = writtenSettings[name];
    const otherwise = CLIENT_DEFAULTS[name];
    const printed = {
      variable: clientVariables[name],
      otherwise: otherwise === undefined ? undefined : String(otherwise),
    };
    return [name, setting(schema, CLIENT[name], printed)];
  }),
) as unknown as ClientFields;

/** Settings of an account with the service; the file's `accounts` have the same. */
const accountFields = {
  ...clientFields,
  maxAmounts: setting(
    Amounts,
    "Maximum amount of one payout, card or withdrawal, by currency. Other currencies are refused.",
    { variable: "PAYMENTS_MAX_AMOUNTS", otherwise: "no limit" },
  ),
  approveAbove: setting(
    Amounts,
    "Amounts above which a second person must approve, by currency. Other currencies always need approval.",
    { variable: "PAYMENTS_APPROVE_ABOVE", otherwise: "set by each input" },
  ),
  activitiesPerSecond: setting(
    above0(Infinity),
    "Maximum activities per second of all workers together. Use the same value for every worker.",
    { otherwise: "no limit" },
  ),
};

const NotifySettings = Schema.Struct({
  url: setting(Text, "Address of the webhook: https, or http on this machine.", {
    variable: "PAYMENTS_NOTIFY_URL",
    otherwise: "off",
  }),
  secret: setting(
    Text,
    "Secret that signs each notification: whsec_ and 24 to 64 bytes in base64.",
    {
      variable: "PAYMENTS_NOTIFY_SECRET",
      otherwise: "required with the URL",
    },
  ),
  intervalSeconds: setting(above0(3_600), "Seconds between checks.", { otherwise: "15" }),
  overdueHours: setting(above0(8_760), "Hours after which an open run counts as overdue.", {
    otherwise: "120",
  }),
  webUi: setting(Text, "Address of Temporal's Web UI, for links.", { variable: "TEMPORAL_UI_URL" }),
});

const CodecServerSettings = Schema.Struct({
  usersFile: setting(Text, "JSON file of users and their roles. It is reloaded for each request."),
  certFile: setting(
    Text,
    "Certificate of the server, PEM. Without it, the server accepts only requests from this machine.",
  ),
  keyFile: setting(Text, "Private key of the certificate, PEM."),
  tokens: setting(
    Schema.Struct({
      jwksUrl: Text.annotate({ description: "Address of the issuer's public keys (JWKS)." }),
      issuer: Text.annotate({ description: "Issuer that a token must name (iss)." }),
      audience: Text.annotate({ description: "Audience that a token must name (aud)." }),
    }),
    "Signed tokens (JWT) that are accepted. All three settings are required.",
  ),
});

/** All settings that a file or the environment can hold. */
export const SettingsSchema = Schema.Struct({
  $schema: setting(Schema.String, "Address of this schema, for an editor."),
  ...accountFields,
  accounts: setting(
    Schema.Record(
      Schema.String.check(Schema.isPattern(ACCOUNT_NAME)),
      Schema.Struct(accountFields),
    ),
    "Further accounts by name, each with its own clientId and apiKeyFile. Settings that an account leaves out are taken from the top level of the file.",
  ),
  ledger: setting(
    Text,
    "Database of the ledger: `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`, or `memory` for tests. For PostgreSQL, `?connection_limit=10` sets the maximum connections of a process; the default is 5.",
    {
      variable: "PAYMENTS_LEDGER",
      otherwise: "a file per client id in ~/.local/state/durable-payments",
    },
  ),
  keyring: setting(Text, "Folder with the keys that encrypt what Temporal and the ledger store.", {
    variable: "PAYMENTS_KEYRING",
    otherwise: "no encryption",
  }),
  dataConverter: setting(
    Text,
    "Module that exports `dataConverter`, for what Temporal stores: a path or a package name. It does not encrypt the ledger: set keyring as well.",
  ),
  taskQueue: setting(
    Text,
    "Task queue of the workers. The names of other queues are derived from it.",
    {
      variable: "PAYMENTS_TASK_QUEUE",
      otherwise: "payments",
    },
  ),
  allowPlainTextTemporal: setting(
    Flag,
    "Allows a Temporal server on another host without TLS. Use it only if the network encrypts its traffic.",
    { variable: "PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL", otherwise: "false" },
  ),
  batchShare: setting(
    above0(1),
    "Share of activitiesPerSecond that batches may use: above 0, up to 1.",
    {
      otherwise: "0.5",
    },
  ),
  deploymentName: setting(
    like(
      DEPLOYMENT,
      "must have at most 100 characters, without spaces, dots or colons, and must not begin with __",
    ),
    "Deployment name for Temporal's Worker Versioning.",
    { variable: "PAYMENTS_DEPLOYMENT_NAME" },
  ),
  buildId: setting(
    like(
      BUILD_ID,
      "must have at most 100 characters, without spaces or colons, and must not begin with __",
    ),
    "Build id for Temporal's Worker Versioning.",
    { variable: "PAYMENTS_BUILD_ID" },
  ),
  healthAddress: setting(
    like(PORT, "must be a port, or HOST:PORT such as 0.0.0.0:9464"),
    "Where to serve /livez, /readyz and /metrics: a port on 127.0.0.1, or HOST:PORT.",
    { variable: "PAYMENTS_HEALTH_ADDRESS", otherwise: "off" },
  ),
  logLevel: setting(
    Schema.Literals(LOG_LEVELS),
    "Minimum level of the worker's log. In a program of your own, pass PaymentsPlugin to NativeConnection.connect.",
    {
      variable: "PAYMENTS_LOG_LEVEL",
      otherwise: "WARN",
    },
  ),
  logFormat: setting(Schema.Literals(["json", "text"]), "Format of the worker's log.", {
    variable: "PAYMENTS_LOG_FORMAT",
    otherwise: "text",
  }),
  notify: setting(
    NotifySettings,
    "Webhook to notify when a run needs a person, fails or is overdue.",
  ),
  codecServer: setting(CodecServerSettings, "Settings of the codec server."),
});

/** Names of the settings of an account. */
export const accountSettingNames: ReadonlyArray<string> = Object.keys(accountFields);
