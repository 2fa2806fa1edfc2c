import type { Dispatcher } from "undici";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import {
  type Assumptions,
  AssumptionsSchema,
  defaultAssumptions,
} from "../contract/assumptions.ts";
import { faultsOf, faultsText } from "../contract/schema-faults.ts";
import { isRecord } from "../values.ts";
import { checkHeaderText } from "./header-text.ts";
import type { Hooks } from "./hook-events.ts";
import { nearestName } from "./nearest-name.ts";
import { chooseProxy, type Environment, isThisMachine } from "./proxy.ts";
import type { ClientLogger } from "./say.ts";
import {
  type ApiKeyOption,
  checkedApiKey,
  checkedTls,
  type TlsOption,
} from "./current-credentials.ts";
import type { TlsSettings } from "./tls.ts";

/**
 * A dispatcher of undici 7 or later: a `MockAgent` of a test, an `Agent` that is shared or watched. It
 * decides on proxy, TLS and connections, and stays open when the client is closed. It must send each
 * request once: one that sends a payout twice pays twice. One that begins a request again with the handler
 * that the client gave it, as undici's `RetryAgent` does, is stopped, and the outcome of a write is unknown
 * then. One that sends it again with a handler of its own, to retry, hedge or mirror, is seen by nobody and
 * not stopped. A lost answer of a write is unknown more often than with the client's own connections, which
 * know whether a byte has left.
 */
export type ClientDispatcher = Pick<Dispatcher, "dispatch">;

/** The checked settings of a client; times in milliseconds. */
export interface ClientOptions extends Hooks {
  /** The service's address up to, not including, `/api/v1`. https, or http to this machine only. */
  readonly baseUrl: string;
  /** The account's client id, sent as `x-client-id`. */
  readonly clientId: string;
  /** The account's API key, or what returns it as it is now; sent on sign-in alone, shown in no log, error or span. */
  readonly apiKey: ApiKeyOption;
  /**
   * Longest time of one request, from the wait for a connection to the last byte of its answer; what
   * `BeforeSend` takes in between is not counted.
   */
  readonly requestTimeoutMs: number;
  /** Most sends of one call, the first included. */
  readonly maxAttempts: number;
  /** Wait before the second send; doubles for each further one, with jitter. */
  readonly retryBaseMs: number;
  /** Longest wait between two sends; a longer `Retry-After` ends the call with `RateLimited`. */
  readonly maxRetryWaitMs: number;
  /** Our own limit of requests a second, for this client; 0 for none. */
  readonly requestsPerSecond: number;
  /** Most kept connections, and as many dedicated ones. */
  readonly maxConnections: number;
  /** What is assumed where the service's document leaves something open. */
  readonly assumptions: Assumptions;
  /**
   * Address of the HTTP proxy that leads to the service, such as `http://proxy.example:3128`; `false`
   * for none. By default `HTTPS_PROXY` of the environment, unless `NO_PROXY` exempts the host. The
   * proxy opens a tunnel: TLS is spoken with the service, so that it reads nothing.
   */
  readonly proxy: Redacted.Redacted | false;
  /** CAs that are trusted, and a client certificate; or what returns them as they are now. By default those that Node trusts, and none. */
  readonly tls?: TlsOption;
  /** Sends the requests instead of the client's own connections; see {@link ClientDispatcher}. */
  readonly dispatcher?: ClientDispatcher;
  /** Where the client writes what it has to say; by default to Effect's loggers, which write to the console. */
  readonly logger?: ClientLogger;
}

/** The defaults of the settings that are numbers. */
export const defaultNumbers = {
  requestTimeoutMs: 30_000,
  maxAttempts: 4,
  retryBaseMs: 200,
  maxRetryWaitMs: 20_000,
  requestsPerSecond: 0,
  maxConnections: 64,
};

/** The settings that have defaults. */
export const defaultClientOptions = {
  ...defaultNumbers,
  proxy: false,
  assumptions: defaultAssumptions,
} as const;

/** What a user gives: the three settings without default, and any others. */
export interface ClientSettings extends Partial<
  Omit<ClientOptions, "assumptions" | "apiKey" | "baseUrl" | "clientId" | "proxy" | "tls">
> {
  /** The service's address up to, not including, `/api/v1`. https, or http to this machine only. */
  readonly baseUrl: string;
  /** The account's client id, sent as `x-client-id`. */
  readonly clientId: string;
  /**
   * The account's API key, sent on sign-in alone; shown in no log, error or span. A function is asked before each
   * request: where it returns another key, the client signs in with that, and requests go on with the token that they
   * have until it has signed in. Where it throws, or what it returns is no key, the key before is used.
   */
  readonly apiKey: Redacted.Redacted | string | (() => Redacted.Redacted | string);
  /**
   * Address of the HTTP proxy that leads to the service, such as `http://proxy.example:3128`; `false`
   * or `"none"` for none. By default `HTTPS_PROXY` of the environment, unless `NO_PROXY` exempts the host.
   */
  readonly proxy?: Redacted.Redacted | string | false;
  /**
   * CAs that are trusted, and a client certificate. By default those that Node trusts, and none. A function is asked
   * before each request: where it returns another object, the connections from then on are opened with that.
   */
  readonly tls?: TlsSettings | (() => TlsSettings);
  /** Only the assumptions that differ from the defaults. */
  readonly assumptions?: Partial<Assumptions>;
}

/** A setting is missing or wrong; the message names it and says what it takes. */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>()("InvalidSettings", {
  message: Schema.String,
}) {}

/**
 * Lay assumptions over the defaults.
 *
 * @param overrides an object of the settings that differ, from JSON for example
 * @returns all assumptions; fails with `InvalidSettings` for an unknown name or a wrong value
 * @example
 * const assumptions = makeAssumptions({ timeZone: "Asia/Singapore", listLagSeconds: 60 });
 */
export const makeAssumptions = (
  overrides: unknown,
): Result.Result<Assumptions, InvalidSettings> => {
  if (!isRecord(overrides)) {
    return Result.fail(
      new InvalidSettings({
        message: "The assumptions must be a JSON object of settings.",
      }),
    );
  }
  const laidOver = Object.fromEntries(
    [...Object.entries(defaultAssumptions), ...Object.entries(overrides)].map(([name, value]) => {
      const byDefault: unknown = Object.entries(defaultAssumptions).find(([n]) => n === name)?.[1];
      return [name, isRecord(byDefault) && isRecord(value) ? { ...byDefault, ...value } : value];
    }),
  );
  return Schema.decodeUnknownResult(AssumptionsSchema, {
    errors: "all",
    onExcessProperty: "error",
  })(laidOver).pipe(
    Result.mapError(
      ({ issue }) =>
        new InvalidSettings({
          message: `The assumptions are wrong: ${faultsText(faultsOf(issue))}`,
        }),
    ),
  );
};

const checkBaseUrl = (baseUrl: string): Array<string> => {
  const fault = (problem: string) => [`PAYMENTS_BASE_URL (baseUrl) ${problem}`];
  if (!URL.canParse(baseUrl)) {
    return fault("must be an absolute URL, such as https://payments.example.");
  }
  const { hash, hostname, password, pathname, protocol, search, username } = new URL(baseUrl);
  if ([username, password, search, hash].some((part) => part !== "")) {
    return fault("must carry no credentials, no query and no fragment.");
  }
  if (/\/api\/v\d+\/*$/.test(pathname)) {
    return fault("must end before /api/v1, which the client adds.");
  }
  return protocol === "https:" || (protocol === "http:" && isThisMachine(hostname))
    ? []
    : fault(
        "must begin with https://; http:// only leads to this machine, as the API key would travel in the clear.",
      );
};

/** What a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;

/** The settings that are numbers: their variables, and what they may be. */
export const NUMBERS = {
  requestTimeoutMs: { variable: "PAYMENTS_REQUEST_TIMEOUT_MS", least: 1, most: LONGEST_MS },
  maxAttempts: { variable: "PAYMENTS_MAX_ATTEMPTS", least: 1, most: 100 },
  retryBaseMs: { variable: "PAYMENTS_RETRY_BASE_MS", least: 0, most: LONGEST_MS },
  maxRetryWaitMs: { variable: "PAYMENTS_MAX_RETRY_WAIT_MS", least: 0, most: LONGEST_MS },
  requestsPerSecond: { variable: "PAYMENTS_REQUESTS_PER_SECOND", least: 0, most: 100_000 },
  maxConnections: { variable: "PAYMENTS_MAX_CONNECTIONS", least: 1, most: 10_000 },
} satisfies Record<keyof typeof defaultNumbers, object>;

/** Name of a setting that is a number. */
export type NumberName = keyof typeof defaultNumbers;

/** The names of the settings that are numbers. */
// The object's own keys.
export const numberNames = Object.keys(NUMBERS) as ReadonlyArray<NumberName>;

const checkNumber = (name: NumberName, value: unknown): Array<string> => {
  const { least, most, variable } = NUMBERS[name];
  // Requests a second may be fewer than one.
  const isWhole = name === "requestsPerSecond" || Number.isInteger(value);
  return typeof value === "number" && isWhole && value >= least && value <= most
    ? []
    : [
        `${variable} (${name}) must be a ${name === "requestsPerSecond" ? "" : "whole "}number from ${least} to ${most}.`,
      ];
};

/** Names of the settings of a client. */
export const clientSettingNames: ReadonlyArray<string> = [
  "baseUrl",
  "clientId",
  "apiKey",
  ...numberNames,
  "assumptions",
  "proxy",
  "tls",
  "dispatcher",
  "logger",
  "onRequest",
  "onResponse",
];

const unknownNames = (settings: object): ReadonlyArray<string> =>
  Object.keys(settings)
    .filter((name) => !clientSettingNames.includes(name))
    .map((name) => {
      const like = nearestName(name, clientSettingNames);
      return `${name} is not a setting of a client${like === undefined ? ` (it takes ${clientSettingNames.join(", ")}).` : `: is it ${like}?`}`;
    });

const isFunction = (value: unknown): boolean => typeof value === "function";

const checkWatchers = ({
  logger,
  onRequest,
  onResponse,
}: Omit<ClientSettings, "assumptions">): ReadonlyArray<string> => [
  ...(logger === undefined || (isFunction(logger?.debug) && isFunction(logger?.warn))
    ? []
    : ["logger must have the functions debug and warn, as console has."]),
  ...Object.entries({ onRequest, onResponse }).flatMap(([name, hook]) =>
    hook === undefined || isFunction(hook) ? [] : [`${name} must be a function.`],
  ),
];

/** What a dispatcher decides cannot be set beside it. */
const checkDispatcher = ({
  dispatcher,
  proxy,
  tls,
}: Pick<ClientSettings, "dispatcher" | "proxy" | "tls">): ReadonlyArray<string> => {
  if (dispatcher === undefined) return [];
  if (!isFunction(dispatcher?.dispatch)) return ["dispatcher must be a dispatcher of undici."];
  return tls === undefined && (proxy ?? false) === false
    ? []
    : [
        "dispatcher decides on proxy and TLS itself: set them there, and neither proxy nor tls here.",
      ];
};

/**
 * Check settings and fill in the defaults.
 *
 * @param environment of this process, for the proxy that it names
 * @returns the settings; fails with `InvalidSettings`, whose message names every fault at once
 */
export const makeClientOptions = (
  // From JSON, assumptions are of any shape.
  settings: Omit<ClientSettings, "assumptions"> & { readonly assumptions?: unknown },
  environment: Environment = process.env,
): Result.Result<ClientOptions, InvalidSettings> => {
  // A caller without types may give anything.
  if (!isRecord(settings)) {
    return Result.fail(
      new InvalidSettings({
        message: "A client needs an object of settings: baseUrl, clientId and apiKey at least.",
      }),
    );
  }
  const apiKey = checkedApiKey(settings.apiKey);
  const { baseUrl, clientId, dispatcher, logger, onRequest, onResponse } = settings;
  const numbers = { ...defaultNumbers };
  for (const name of numberNames) numbers[name] = settings[name] ?? defaultNumbers[name];
  const assumptions = makeAssumptions(
    settings.assumptions === undefined ? {} : settings.assumptions,
  );
  const urlFaults = checkBaseUrl(baseUrl);
  const isUrl = urlFaults.length === 0;
  const proxy =
    isUrl && dispatcher === undefined
      ? chooseProxy(settings.proxy, baseUrl, environment)
      : Result.succeed<false>(false);
  const tls =
    settings.tls === undefined || !isUrl
      ? Result.succeed(undefined)
      : checkedTls(settings.tls, baseUrl);
  const faults = [
    ...unknownNames(settings),
    ...urlFaults,
    ...checkHeaderText("PAYMENTS_CLIENT_ID (clientId)", clientId),
    ...(Result.isFailure(apiKey) ? apiKey.failure : []),
    ...numberNames.flatMap((name) => checkNumber(name, numbers[name])),
    ...(Result.isFailure(proxy) ? [proxy.failure] : []),
    ...(Result.isFailure(tls) ? tls.failure : []),
    ...checkDispatcher(settings),
    ...checkWatchers(settings),
    ...(Result.isFailure(assumptions)
      ? [`PAYMENTS_ASSUMPTIONS (assumptions): ${assumptions.failure.message}`]
      : []),
  ];
  return Result.isSuccess(assumptions) &&
    Result.isSuccess(proxy) &&
    Result.isSuccess(apiKey) &&
    Result.isSuccess(tls) &&
    faults.length === 0
    ? Result.succeed({
        baseUrl,
        clientId,
        apiKey: apiKey.success,
        ...numbers,
        proxy: proxy.success,
        assumptions: assumptions.success,
        ...(tls.success !== undefined && { tls: tls.success }),
        ...(dispatcher !== undefined && { dispatcher }),
        ...(logger !== undefined && { logger }),
        ...(onRequest !== undefined && { onRequest }),
        ...(onResponse !== undefined && { onResponse }),
      })
    : Result.fail(new InvalidSettings({ message: faults.join(" ") }));
};
