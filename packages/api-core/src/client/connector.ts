import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import * as Redacted from "effect/Redacted";
import { buildConnector } from "undici";
import type { ClientOptions } from "./config.ts";
import { connectionFault, NoResponse } from "./no-response.ts";
import type { TlsOptions } from "./tls.ts";

/** Gets an open connection, or why there is none; called once. */
export type Connected = (outcome: Socket | NoResponse) => void;

const LONGEST_CONNECT_MS = 10_000;

/** Whatever the settings of Node and its environment say: older ones, and unchecked ones, are not safe. */
const TLS = { minVersion: "TLSv1.2", rejectUnauthorized: true } as const;

/** What Node trusts, and no client certificate. */
const NODES_OWN: TlsOptions = {};

/** As sockets take it: IPv6 addresses without their brackets. */
const bareHost = ({ hostname }: URL): string => {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIPv6(bare) ? bare : hostname;
};

const notOpened = (error: Error, where: string): NoResponse => {
  const { reason, remedy } = connectionFault(error);
  return new NoResponse(false, `${reason} (${where})`, remedy);
};

const TUNNEL_CREDENTIALS =
  "Give its user and password in PAYMENTS_PROXY (proxy) or HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT.";

/** Why a proxy opens no tunnel. Of 5xx it may open one later. */
const notTunnelled = (status: number, proxy: URL, target: string): NoResponse => {
  const reason = `the proxy ${proxy.host} answered HTTP ${status} to CONNECT ${target}`;
  if (status === 407) return new NoResponse(false, reason, TUNNEL_CREDENTIALS);
  return status >= 500
    ? new NoResponse(false, reason)
    : new NoResponse(false, reason, `It has to let this machine through to ${target}.`);
};

const proxyAuthorization = ({ password, username }: URL): Record<string, string> => {
  if (username === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
};

/** Has a proxy open a tunnel, by the method CONNECT of HTTP. */
const openTunnel = (
  proxy: URL,
  target: string,
  { ca, timeoutMs }: { readonly ca: string | undefined; readonly timeoutMs: number },
  opened: Connected,
): void => {
  const isSecure = proxy.protocol === "https:";
  const request = (isSecure ? httpsRequest : httpRequest)({
    agent: false,
    host: bareHost(proxy),
    port: proxy.port === "" ? (isSecure ? 443 : 80) : proxy.port,
    method: "CONNECT",
    path: target,
    headers: { host: target, ...proxyAuthorization(proxy) },
    timeout: timeoutMs,
    ...(isSecure && { ...TLS, ...(ca !== undefined && { ca }) }),
  });
  request.once("connect", ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    socket.setTimeout(0);
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) socket.unshift(head);
      return opened(socket);
    }
    socket.destroy();
    opened(notTunnelled(statusCode, proxy, target));
  });
  request.once("timeout", () =>
    request.destroy(Object.assign(new Error("no answer"), { code: "ETIMEDOUT" })),
  );
  request.once("error", (error) =>
    opened(notOpened(error, `the proxy ${proxy.host} of PAYMENTS_PROXY or HTTPS_PROXY`)),
  );
  request.end();
};

/**
 * Make what opens connections to the service: directly, or through a tunnel of a proxy, and with TLS
 * where the address begins with https, by the certificates and keys that it is given.
 */
export const makeConnector = ({
  baseUrl,
  proxy,
  requestTimeoutMs,
}: ClientOptions): ((connected: Connected, tls?: TlsOptions) => void) => {
  const url = new URL(baseUrl);
  const { host, origin, port, protocol } = url;
  const timeoutMs = Math.min(requestTimeoutMs, LONGEST_CONNECT_MS);
  const connectorWith = ({ ca, cert, key }: TlsOptions) =>
    buildConnector({
      allowH2: false,
      timeout: timeoutMs,
      ...(protocol === "https:" && {
        ...TLS,
        // Read once, and not for each connection.
        secureContext: createSecureContext({
          minVersion: TLS.minVersion,
          ...(ca !== undefined && { ca }),
          ...(cert !== undefined && key !== undefined && { cert, key: Redacted.value(key) }),
        }),
      }),
    });
  let made: { readonly tls: TlsOptions; readonly connect: buildConnector.connector } | undefined;
  const connectorOf = (tls: TlsOptions): buildConnector.connector => {
    if (made?.tls !== tls) made = { tls, connect: connectorWith(tls) };
    return made.connect;
  };
  const target = { host, hostname: bareHost(url), port, protocol };
  const open = (
    connected: Connected,
    tls: TlsOptions,
    where: string,
    httpSocket?: Socket,
  ): void => {
    connectorOf(tls)(
      { ...target, ...(httpSocket !== undefined && { httpSocket }) },
      (error, socket) => connected(error === null ? socket : notOpened(error, where)),
    );
  };
  if (proxy === false) return (connected, tls = NODES_OWN) => open(connected, tls, origin);
  const through = new URL(Redacted.value(proxy));
  const tunnelled = port === "" ? `${host}:443` : host;
  return (connected, tls = NODES_OWN) =>
    openTunnel(through, tunnelled, { ca: tls.ca, timeoutMs }, (outcome) => {
      if (outcome instanceof NoResponse) return connected(outcome);
      open(connected, tls, `${origin} through the proxy ${through.host}`, outcome);
    });
};
