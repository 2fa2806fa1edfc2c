import type { Dispatcher } from "undici";
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
import { isLoopback, isRecord, lookUp, messageOf } from "../values.ts";
import { InvalidSettings } from "./errors.ts";
import type { Hooks } from "./hooks.ts";
import { type ClientLogger, makeSay } from "./say.ts";

/**
 * A dispatcher of undici 7 or later: a `MockAgent` of a test, an `Agent` that is shared or watched. It
 * decides on proxy, TLS and connections, and stays open when the client is closed.
 *
 * It must send each request once: if it sends a payout twice, two payouts are made. undici's `RetryAgent`, retry and
 * redirect interceptors send no body twice, because it is a `Buffer` that counts as read. A dispatcher that begins a
 * request again with the client's handler is stopped, and the outcome of a write is then unknown. The client cannot see
 * a dispatcher send it again with its own handler, to retry, hedge or mirror.
 *
 * After a lost answer, the outcome of a write is unknown more often than with the client's own connections: those know
 * whether a byte has left.
 */
export type ClientDispatcher = Pick<Dispatcher, "dispatch">;

const baseUrlFault = (baseUrl: string): string | undefined => {
  if (!URL.canParse(baseUrl)) return "must be an absolute URL, such as https://payments.example";
  const url = new URL(baseUrl);
  if ([url.username, url.password, url.search, url.hash].some((part) => part !== "")) {
    return "must not contain credentials, a query or a fragment";
  }
  if (/\/api\/v\d+\/*$/.test(url.pathname)) {
    return "must end before /api/v1, which the client adds";
  }
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))
    ? undefined
    : "must begin with https://; http:// is allowed only to this machine, because it would expose the API key";
};

const headerFault = (text: string): string | undefined => {
  if (!/^[\x21-\x7e]+$/.test(text)) return "must be visible ASCII characters without white space";
  // As `docker run --env-file` leaves them.
  return /^(["']).*\1$/.test(text) ? "must not be enclosed in quotation marks" : undefined;
};

const PROXY = "must be the address of an HTTP proxy, such as http://proxy.example:3128";

/** The values of a file or a variable that disable the proxy. */
const NO_PROXY = /^(none|false)$/i;

/** Returns the fault of a proxy's address; never the address, which may have a password. */
const proxyFault = (address: string): string | undefined => {
  if (NO_PROXY.test(address)) return undefined;
  if (!URL.canParse(address)) return PROXY;
  const { hash, password, pathname, protocol, search, username } = new URL(address);
  if (protocol !== "http:" && protocol !== "https:") return PROXY;
  if (pathname !== "/" || search !== "" || hash !== "") return `${PROXY}, without a path`;
  try {
    decodeURIComponent(username + password);
    return undefined;
  } catch {
    return `${PROXY}, with user and password percent-encoded`;
  }
};

/** The proxy of the environment for an address, unless `NO_PROXY` exempts it; http leads to this machine only. */
export const environmentProxy = (baseUrl: string) => {
  const url = new URL(baseUrl);
  if (url.protocol !== "https:" || isLoopback(url.hostname)) return undefined;
  const variable = process.env["https_proxy"] === undefined ? "HTTPS_PROXY" : "https_proxy";
  const given = process.env[variable]?.trim() ?? "";
  if (given === "") return undefined;
  // As curl takes it.
  const uri = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  return {
    uri,
    isOfEnvironment: true,
    name: `the proxy of ${variable} (unless NO_PROXY exempts it)`,
  };
};

const checked = (faultIn: (value: string) => string | undefined) =>
  Schema.String.check(
    Schema.makeFilter((value: string) => faultIn(value) ?? true, {
      toJsonSchema: () => ({ minLength: 1 }),
    }),
  );

const isSecret = (value: unknown): value is Redacted.Redacted | string => {
  if (!Redacted.isRedacted(value)) return typeof value === "string";
  try {
    return typeof Redacted.value(value) === "string";
  } catch {
    // It was made by another Effect than that inside the promise client, which cannot read it.
    return false;
  }
};

const textOf = (secret: Redacted.Redacted | string): string =>
  typeof secret === "string" ? secret : Redacted.value(secret);

/**
 * Makes the schema of a value that a predicate accepts. Effect's own schemas report their type in its words; a setting is
 * reported in those of `expected`.
 *
 * @param expected completes "must be" in a message.
 * @param is returns whether a value is accepted.
 * @param json the JSON Schema, if a file can hold the value.
 */
export const typed = <A>(
  expected: string,
  is: (value: unknown) => value is A,
  json: Readonly<Record<string, unknown>> = {},
) =>
  Schema.declare(is, { expected, toCodecJson: () => undefined }).check(
    Schema.makeFilter(() => true, { toJsonSchema: () => json }),
  );

/** A text that is hidden wherever the settings are shown. */
const secret = (faultIn: (text: string) => string | undefined, expected: string) =>
  typed(expected, isSecret, { type: "string", minLength: 1 }).check(
    Schema.makeFilter((value: Redacted.Redacted | string) => faultIn(textOf(value)) ?? true, {
      toJsonSchema: () => ({}),
    }),
  );

const isFunction = (value: unknown): boolean => typeof value === "function";

const isDispatcher = (value: unknown): value is ClientDispatcher =>
  isRecord(value) && isFunction(value["dispatch"]);

const isLogger = (value: unknown): value is ClientLogger =>
  isRecord(value) && isFunction(value["debug"]) && isFunction(value["warn"]);

const isOverrides = (value: unknown): value is Partial<Assumptions> => isRecord(value);

const isHook = (value: unknown): value is (event: unknown) => void => isFunction(value);

/** The longest timer of Node. */
export const LONGEST_MS = 2 ** 31 - 1;

export const MOST_ATTEMPTS = 100;

/** A number within bounds. */
export const number = (least: number, most: number, isWhole = true) =>
  typed(
    `a ${isWhole ? "whole " : ""}number from ${least} to ${most}`,
    (value): value is number =>
      typeof value === "number" &&
      value >= least &&
      value <= most &&
      (!isWhole || Number.isInteger(value)),
    { type: isWhole ? "integer" : "number", minimum: least, maximum: most },
  );

const path = typed(
  "the path of a file",
  (value): value is string => typeof value === "string" && value !== "",
  { type: "string", minLength: 1 },
);

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
  readonly credentials: Credentials["Service"];
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
