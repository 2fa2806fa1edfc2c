/*
 * The checks of single settings: what a value may be, and what is wrong with it.
 *
 * A fault never shows the value: it may be a secret, and the address of a proxy may have a password. Effect's own schemas
 * report a type in its words, such as "Expected string"; these complete "must be".
 */
import type { Dispatcher } from "undici";
import * as Redacted from "effect/Redacted";
import * as Schema from "effect/Schema";
import { isLoopback } from "../values.ts";

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

export const baseUrlFault = (baseUrl: string): string | undefined => {
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

export const headerFault = (text: string): string | undefined => {
  if (!/^[\x21-\x7e]+$/.test(text)) return "must be visible ASCII characters without white space";
  // As `docker run --env-file` leaves them.
  return /^(["']).*\1$/.test(text) ? "must not be enclosed in quotation marks" : undefined;
};

const PROXY = "must be the address of an HTTP proxy, such as http://proxy.example:3128";

/** The values of a file or a variable that disable the proxy. */
export const NO_PROXY = /^(none|false)$/i;

/** Returns the fault of a proxy's address; never the address, which may have a password. */
export const proxyFault = (address: string): string | undefined => {
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

export const checked = (faultIn: (value: string) => string | undefined) =>
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

export const textOf = (secret: Redacted.Redacted | string): string =>
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
export const secret = (faultIn: (text: string) => string | undefined, expected: string) =>
  typed(expected, isSecret, { type: "string", minLength: 1 }).check(
    Schema.makeFilter((value: Redacted.Redacted | string) => faultIn(textOf(value)) ?? true, {
      toJsonSchema: () => ({}),
    }),
  );

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

export const path = typed(
  "the path of a file",
  (value): value is string => typeof value === "string" && value !== "",
  { type: "string", minLength: 1 },
);
