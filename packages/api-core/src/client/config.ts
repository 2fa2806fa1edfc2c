import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import type { Assumptions } from "../contract/assumptions.ts";
import { defaultAssumptions } from "../contract/default-assumptions.ts";
import { makeAssumptions } from "../contract/make-assumptions.ts";
import { faultsOf, STRICT } from "../contract/rules.ts";
import { type Credentials, openCredentials } from "../credentials.ts";
import { isRecord, lookUp, messageOf } from "../values.ts";
import { InvalidSettings } from "./errors.ts";
import type { Hooks } from "./hooks.ts";
import { type ClientLogger, makeSay } from "./say.ts";
import {
  baseUrlFault,
  checked,
  type ClientDispatcher,
  environmentProxy,
  headerFault,
  LONGEST_MS,
  MOST_ATTEMPTS,
  NO_PROXY,
  number,
  path,
  proxyFault,
  secret,
  textOf,
  typed,
} from "./setting-checks.ts";

const isFunction = (value: unknown): boolean => typeof value === "function";

const isDispatcher = (value: unknown): value is ClientDispatcher =>
  isRecord(value) && isFunction(value["dispatch"]);

const isLogger = (value: unknown): value is ClientLogger =>
  isRecord(value) && isFunction(value["debug"]) && isFunction(value["warn"]);

const isOverrides = (value: unknown): value is Partial<Assumptions> => isRecord(value);

const isHook = (value: unknown): value is (event: unknown) => void => isFunction(value);

const requiredSettings = {
  /**
   * Address of the service, without `/api/v1`: https, or http on this machine.
   *
   * @default required
   */
  baseUrl: checked(baseUrlFault),
  /**
   * Client id of the account.
   *
   * It is sent as `x-client-id`.
   *
   * @default required
   */
  clientId: checked(headerFault),
};

const optionalSettings = {
  /**
   * API key of the account, a secret. Prefer apiKeyFile.
   *
   * It is sent on sign-in alone, and shown in no log, error or span.
   *
   * @default required, or apiKeyFile
   */
  apiKey: secret(headerFault, "a string"),
  /**
   * File with the API key. It is reloaded when it changes.
   *
   * The client then signs in with the new key, and requests use the earlier token until it has signed in.
   */
  apiKeyFile: path,
  /**
   * Maximum duration of one request, in milliseconds.
   *
   * It lasts to the last byte of its response; what `BeforeSend` takes before is not counted.
   *
   * @default 30000
   */
  requestTimeoutMs: number(1, LONGEST_MS),
  /**
   * Maximum sends of one call, if it is safe to repeat; a worker needs at least 2.
   *
   * The first send is included.
   *
   * @default 4
   */
  maxAttempts: number(1, MOST_ATTEMPTS),
  /**
   * Wait before the second send, in milliseconds; it doubles each time.
   *
   * Each wait is drawn at random, from none to this time.
   *
   * @default 200
   */
  retryBaseMs: number(0, LONGEST_MS),
  /**
   * Maximum wait before a send, in milliseconds.
   *
   * A longer wait, for the account's turn or between two sends, ends the call with `RateLimited`, which says when to try
   * again. A worker then gives its activity slot back; its default is 5000.
   *
   * @default 20000
   */
  maxRetryWaitMs: number(0, LONGEST_MS),
  /**
   * Maximum requests per second of one process; 0: no limit.
   *
   * In a program that makes several clients, those of each client. After HTTP 429, the client sends more slowly.
   *
   * @default 0
   */
  requestsPerSecond: number(0, 100_000, false),
  /**
   * Maximum connections to the service.
   *
   * As many requests are under way at once. Others wait: writes go before reads.
   *
   * @default 64
   */
  maxConnections: number(1, 10_000),
  /**
   * HTTP proxy to the service, or `none`.
   *
   * An address such as `http://proxy.example:3128`; a program may write `false` for none. By default `HTTPS_PROXY` of
   * the environment, unless `NO_PROXY` exempts the host. The proxy opens a tunnel: TLS is spoken with the service, so
   * that the proxy reads nothing.
   *
   * @default HTTPS_PROXY
   */
  proxy: Schema.Union([Schema.Literal(false), secret(proxyFault, "an address or false")]),
  /**
   * Trusted CAs, PEM. The file is reloaded when it changes.
   *
   * @default Node's CAs
   */
  caFile: path,
  /**
   * Client certificate with its chain, PEM.
   *
   * The file is reloaded when it changes, as that of its key is.
   */
  clientCertFile: path,
  /** Private key of the client certificate, unencrypted PEM. */
  clientKeyFile: path,
  /**
   * Assumptions to change for your service: see docs/assumptions.md.
   *
   * Only those that differ from the defaults.
   */
  assumptions: typed("a JSON object of settings", isOverrides, { type: "object" }),
};

/** The settings that a file or a variable can hold. */
export const writtenSettings = { ...requiredSettings, ...optionalSettings };

const fields = {
  ...requiredSettings,
  ...Struct.map(optionalSettings, Schema.optional),
  /** Sends the requests instead of the client's own connections; see {@link ClientDispatcher}. */
  dispatcher: Schema.optional(typed("an undici dispatcher", isDispatcher)),
  /** Where the client writes its messages; by default to Effect's loggers, which write to the console. */
  logger: Schema.optional(
    typed("an object with the functions debug and warn, such as console", isLogger),
  ),
  /** Called before each send; see {@link Hooks}. */
  onRequest: Schema.optional(typed<NonNullable<Hooks["onRequest"]>>("a function", isHook)),
  /** Called after each send; see {@link Hooks}. */
  onResponse: Schema.optional(typed<NonNullable<Hooks["onResponse"]>>("a function", isHook)),
};

const ClientSettingsSchema = Schema.Struct(fields);

/** The settings of a client: `baseUrl`, `clientId` and a key, and any others. */
export interface ClientSettings extends Schema.Struct.Type<typeof fields> {}

/** Names of the settings of a client. */
export const clientSettingNames: ReadonlyArray<string> = Object.keys(fields);

/** The settings that have defaults. */
export const defaultClientOptions = {
  requestTimeoutMs: 30_000,
  maxAttempts: 4,
  retryBaseMs: 200,
  maxRetryWaitMs: 20_000,
  requestsPerSecond: 0,
  maxConnections: 64,
  assumptions: defaultAssumptions,
};

/** The checked settings of a client, with the defaults; secrets are hidden wherever it is shown. */
export interface ClientOptions
  extends
    Omit<ClientSettings, keyof typeof defaultClientOptions | "apiKey" | "proxy">,
    Readonly<typeof defaultClientOptions> {
  readonly apiKey?: Redacted.Redacted;
  readonly proxy?: Redacted.Redacted | false;
  /** Its credentials, opened once for all clients with these options. */
  readonly credentials: Credentials;
}

/** The settings that have an environment variable of their own. */
export const clientVariables: Readonly<Partial<Record<keyof ClientSettings, string>>> = {
  baseUrl: "PAYMENTS_BASE_URL",
  clientId: "PAYMENTS_CLIENT_ID",
  apiKey: "PAYMENTS_API_KEY",
  apiKeyFile: "PAYMENTS_API_KEY_FILE",
  caFile: "PAYMENTS_CA_FILE",
  clientCertFile: "PAYMENTS_CLIENT_CERT_FILE",
  clientKeyFile: "PAYMENTS_CLIENT_KEY_FILE",
  assumptions: "PAYMENTS_ASSUMPTIONS",
};

const labels: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(clientVariables).map(([name, variable]) => [name, `${variable} (${name})`]),
);

/** The faults of single settings, by the schema. */
const schemaFaults = (settings: object): ReadonlyArray<string> => {
  const decoded = Schema.decodeUnknownResult(ClientSettingsSchema, STRICT)(settings);
  if (Result.isSuccess(decoded)) return [];
  return faultsOf(decoded.failure.issue).map(
    ({ field, problem }) => `${lookUp(labels, field) ?? field} ${problem}.`,
  );
};

const hidden = (given: Redacted.Redacted | string): Redacted.Redacted =>
  typeof given === "string" ? Redacted.make(given) : given;

const proxyIn = ({ proxy }: ClientSettings): ClientOptions["proxy"] => {
  if (proxy === undefined) return undefined;
  return proxy === false || NO_PROXY.test(textOf(proxy)) ? false : hidden(proxy);
};

const OWN_CONNECTIONS = ["proxy", "caFile", "clientCertFile", "clientKeyFile"] as const;

/** The faults of settings that are right one by one. */
const faultsBetween = (settings: ClientSettings): ReadonlyArray<string> => {
  const { apiKey, apiKeyFile, baseUrl, dispatcher } = settings;
  const proxy = proxyIn(settings);
  const given = OWN_CONNECTIONS.filter((name) => ({ ...settings, proxy })[name] ?? false).join(
    ", ",
  );
  const environment = proxy === undefined && dispatcher === undefined && environmentProxy(baseUrl);
  const wrongProxy = environment ? proxyFault(environment.uri) : undefined;
  const isHalf = (settings.clientCertFile === undefined) !== (settings.clientKeyFile === undefined);
  const faults = [
    apiKey === undefined &&
      apiKeyFile === undefined &&
      `${labels["apiKey"]} or ${labels["apiKeyFile"]} must be set.`,
    apiKey !== undefined &&
      apiKeyFile !== undefined &&
      `${labels["apiKey"]} and ${labels["apiKeyFile"]} are both set: set only one.`,
    isHalf && `${labels["clientCertFile"]} and ${labels["clientKeyFile"]} must be set together.`,
    given !== "" &&
      dispatcher !== undefined &&
      `a dispatcher brings its own proxy and TLS settings: leave out ${given}.`,
    given !== "" && !baseUrl.startsWith("https:") && `${given} can be used only with https://.`,
    wrongProxy !== undefined && `HTTPS_PROXY ${wrongProxy}. The setting proxy overrides it.`,
  ];
  return faults.filter((fault) => fault !== false);
};

/**
 * Checks settings and fills in the defaults; files that they name are read.
 *
 * @returns the settings; fails with `InvalidSettings`, whose message names every fault at once
 */
export const makeClientOptions = (
  settings: ClientSettings,
): Result.Result<ClientOptions, InvalidSettings> => {
  const fault = (message: string) => Result.fail(new InvalidSettings({ message }));
  // A caller without types may give anything.
  if (!isRecord(settings)) {
    return fault(
      "A client needs an object with at least the settings baseUrl, clientId and apiKey.",
    );
  }
  const faults = [...schemaFaults(settings)];
  if (faults.length === 0) faults.push(...faultsBetween(settings));
  const assumptions = makeAssumptions(settings.assumptions ?? {});
  if (Result.isFailure(assumptions) && isRecord(settings.assumptions ?? {})) {
    faults.push(`${labels["assumptions"]}: ${assumptions.failure.message}`);
  }
  if (faults.length > 0 || Result.isFailure(assumptions)) return fault(faults.join(" "));
  const { apiKey, ...others } = settings;
  const proxy = proxyIn(settings);
  const given = Object.fromEntries(
    Object.entries(others).filter(([, value]) => value !== undefined),
  );
  const options = {
    // The schema has checked the types, and the defaults replace undefined ones.
    ...({ ...defaultClientOptions, ...given } as Omit<
      ClientOptions,
      "apiKey" | "credentials" | "proxy"
    >),
    ...(apiKey !== undefined && { apiKey: hidden(apiKey) }),
    ...(proxy !== undefined && { proxy }),
    assumptions: assumptions.success,
  };
  const { warn } = makeSay(options.logger);
  try {
    const credentials = openCredentials(options, (message) => void Effect.runFork(warn(message)));
    // Not enumerable: copies of the options with other settings open their own.
    return Result.succeed(
      Object.defineProperty(options, "credentials", { value: credentials }) as ClientOptions,
    );
  } catch (error) {
    return fault(messageOf(error));
  }
};
