import { createSecureContext } from "node:tls";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import type * as Scope from "effect/Scope";
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { OLDEST_TLS, type Tls } from "../credentials.ts";
import { callAfter, monotonicMs } from "./clock.ts";
import type { ClientOptions } from "./config.ts";
import { type ClientDispatcher, environmentProxy } from "./setting-checks.ts";
import {
  ACCEPTED_CODINGS,
  Exchange,
  type ExchangeOptions,
  LARGEST_RESPONSE_BYTES,
} from "./exchange.ts";
import { connectionFault, NoResponse } from "./no-response.ts";
import type { Transport, WireRequest, WireResponse } from "./send.ts";

/** The version of the package; a test compares them. */
const USER_AGENT = "durable-payments/0.1.0";

const LONGEST_CONNECT_MS = 10_000;

/** The proxy of these settings, and what it is called in a message; undefined without one. */
const proxyOf = ({ baseUrl, proxy }: ClientOptions) => {
  if (proxy === false) return undefined;
  if (proxy === undefined) return environmentProxy(baseUrl);
  const uri = Redacted.value(proxy);
  return { uri, isOfEnvironment: false, name: `the proxy ${new URL(uri).host}` };
};

/** Why the service refused the last connection, in TLS. */
class Refusal {
  last: Error | undefined;

  /** In TLS 1.3, a client certificate is refused after the connection was opened. */
  watch(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) =>
      connect(options, (...opened) => {
        this.last = undefined;
        opened[1]?.once("error", (error: Error) => {
          if (connectionFault(error).remedy !== undefined) this.last = error;
        });
        callback(...opened);
      });
  }
}

const makeAgent = (
  options: ClientOptions,
  refusal: Refusal,
  tls: Tls | undefined,
  pipelining: 0 | 1,
): Dispatcher => {
  const timeout = Math.min(options.requestTimeoutMs, LONGEST_CONNECT_MS);
  // Whatever Node's settings and environment say: unverified certificates are not safe.
  const verified = { allowH2: false, minVersion: OLDEST_TLS, rejectUnauthorized: true } as const;
  const connect = {
    ...verified,
    timeout,
    // Made once, and not for each connection.
    ...(options.baseUrl.startsWith("https:") && {
      secureContext: tls?.secureContext ?? createSecureContext({ minVersion: OLDEST_TLS }),
    }),
  };
  const shared = {
    connect: refusal.watch(buildConnector(connect)),
    // Over HTTP/2, undici repeats requests when a server closes the session.
    allowH2: false,
    // The client's own time limit covers everything.
    bodyTimeout: 0,
    headersTimeout: 0,
    connections: options.maxConnections,
    maxResponseSize: LARGEST_RESPONSE_BYTES,
    pipelining,
  };
  const proxy = proxyOf(options);
  if (proxy === undefined) return new Agent(shared);
  return new EnvHttpProxyAgent({
    ...shared,
    connectTimeout: timeout,
    proxyTls: { ...verified, ...(tls?.ca !== undefined && { ca: tls.ca }) },
    requestTls: connect,
    httpProxy: "",
    httpsProxy: proxy.uri,
    // A proxy of the settings has no exemptions.
    ...(!proxy.isOfEnvironment && { noProxy: "" }),
  });
};

/**
 * Opens two agents on first use, and others when the certificates have changed. One keeps its connections. The other one opens
 * a connection for each request: a kept one may have been closed without our knowing yet, and then nobody can say whether
 * a request was taken.
 */
const openAgents = (
  options: ClientOptions,
  refusal: Refusal,
): Effect.Effect<(isDedicated: boolean) => Dispatcher, never, Scope.Scope> =>
  Effect.gen(function* () {
    const opened = new Set<Dispatcher>();
    /** The agents of the last set of certificates. */
    let agents:
      | { readonly tls: Tls | undefined; readonly kept: Dispatcher; readonly dedicated: Dispatcher }
      | undefined;
    let isClosed = false;
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        isClosed = true;
        return Promise.all([...opened].map((agent) => agent.destroy()));
      }),
    );
    const open = (tls: Tls | undefined, pipelining: 0 | 1) => {
      const agent = makeAgent(options, refusal, tls, pipelining);
      opened.add(agent);
      // Then it refuses every request.
      if (isClosed) void agent.destroy();
      return agent;
    };
    const retire = (agent: Dispatcher) =>
      // Its requests under way end first; a client that is closed meanwhile destroys it.
      void agent.close().then(
        () => opened.delete(agent),
        () => undefined,
      );
    return (isDedicated) => {
      const tls = options.credentials.tls();
      if (agents === undefined || agents.tls !== tls) {
        for (const agent of agents === undefined ? [] : [agents.kept, agents.dedicated]) {
          retire(agent);
        }
        agents = { tls, kept: open(tls, 1), dedicated: open(tls, 0) };
      }
      return isDedicated ? agents.dedicated : agents.kept;
    };
  });

/** Dispatches a request, and waits for its end. Interruption closes the request. */
const dispatched = (
  dispatch: (exchange: Exchange) => unknown,
  options: Omit<ExchangeOptions, "now" | "permittedAt">,
  isPermitted: boolean,
): Effect.Effect<WireResponse, NoResponse> =>
  Effect.clockWith((clock) => {
    const now = () => monotonicMs(clock);
    return Effect.callback<WireResponse, NoResponse>((resume) => {
      const permittedAt = isPermitted ? now() : undefined;
      const exchange = new Exchange({ ...options, now, permittedAt }, (outcome) => {
        timer.interruptUnsafe();
        resume(outcome instanceof NoResponse ? Effect.fail(outcome) : Effect.succeed(outcome));
      });
      const timer = callAfter(clock, options.timeoutMs, () => exchange.timeOut());
      try {
        dispatch(exchange);
      } catch (error) {
        exchange.breakOff(error instanceof Error ? error : new Error("not an error"));
      }
      return Effect.sync(() => {
        timer.interruptUnsafe();
        exchange.close();
      });
    });
  });

/**
 * A body that counts as read. undici sends it, but its retry and redirect handlers repeat no such body: once a response
 * has begun, they would not even report that they send again.
 */
const sentOnce = (body: string): Buffer =>
  Object.assign(Buffer.from(body), { readableDidRead: true });

/** The request as undici takes it; the base URL may have a path of its own. */
const toDispatch = (
  { body, headers, method, path }: WireRequest,
  { origin, prefix }: { readonly origin: string; readonly prefix: string },
  mayRepeat: boolean,
): Dispatcher.DispatchOptions & { readonly origin: string } => ({
  origin,
  method,
  path: prefix + path,
  headers: {
    ...headers,
    accept: "application/json",
    "accept-encoding": ACCEPTED_CODINGS,
    "user-agent": USER_AGENT,
  },
  body: body === undefined || !mayRepeat ? (body ?? null) : sentOnce(body),
});

/** Sends by undici: over connections that close with the scope, or by the caller's dispatcher. */
export const makeUndici = (options: ClientOptions): Effect.Effect<Transport, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { dispatcher } = options;
    const refusal = new Refusal();
    const dispatcherFor: (isDedicated: boolean) => ClientDispatcher =
      dispatcher === undefined ? yield* openAgents(options, refusal) : () => dispatcher;
    // A MockAgent repeats nothing, and compares bodies as texts.
    const mayRepeat = dispatcher !== undefined && !("disableNetConnect" in dispatcher);
    const { origin, pathname } = new URL(options.baseUrl);
    const base = { origin, prefix: pathname.replace(/\/+$/, "") };
    const proxy = dispatcher === undefined ? proxyOf(options) : undefined;
    const exchangeOptions = {
      where: proxy === undefined ? origin : `${origin} through ${proxy.name}`,
      startIsCertain: dispatcher === undefined,
      refusal: () => refusal.last,
    };
    return (request) => {
      const { operation, permit, timeoutMs } = request;
      const isDedicated = operation.idempotency === "none";
      const sending = dispatched(
        (exchange) =>
          dispatcherFor(isDedicated).dispatch(toDispatch(request, base, mayRepeat), exchange),
        { ...exchangeOptions, timeoutMs },
        permit !== undefined,
      );
      return permit === undefined ? sending : Effect.andThen(permit, sending);
    };
  });
