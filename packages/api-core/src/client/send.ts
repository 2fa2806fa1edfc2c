import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { Dispatcher } from "undici";
import type { ClientDispatcher, ClientOptions } from "./config.ts";
import { type Connection, Connections } from "./connections.ts";
import { ACCEPTED_CODINGS } from "./content-coding.ts";
import { Exchange, type ExchangeOptions } from "./exchange.ts";
import { NoResponse } from "./no-response.ts";
import type { Send, WireRequest, WireResponse } from "./wire.ts";

/** The version is that of the package; a test compares them. */
const USER_AGENT = "durable-payments/0.1.0";

/** The request as undici takes it; the base URL may have a path of its own. */
const toDispatch = (
  { body, headers, method, path }: WireRequest,
  prefix: string,
): Dispatcher.DispatchOptions => ({
  // Of the methods of the contract.
  method,
  path: prefix + path,
  headers: {
    ...headers,
    accept: "application/json",
    "accept-encoding": ACCEPTED_CODINGS,
    "user-agent": USER_AGENT,
  },
  body: body ?? null,
});

/** Has something dispatch a request, and waits for its end, so long. Interruption closes the request. */
const dispatched = (
  dispatch: (exchange: Exchange) => unknown,
  options: ExchangeOptions,
  leftMs: number,
): Effect.Effect<WireResponse, NoResponse> =>
  Effect.callback<WireResponse, NoResponse>((resume) => {
    const exchange = new Exchange(options, (outcome) => {
      clearTimeout(timer);
      resume(outcome instanceof NoResponse ? Effect.fail(outcome) : Effect.succeed(outcome));
    });
    // A plain timer costs a tenth of a racing fiber, and every request pays for it.
    // @effect-diagnostics-next-line globalTimersInEffect:off
    const timer = setTimeout(() => exchange.timeOut(), leftMs);
    try {
      dispatch(exchange);
    } catch (error) {
      exchange.breakOff(error instanceof Error ? error : new Error("no error"));
    }
    return Effect.sync(() => {
      clearTimeout(timer);
      exchange.close();
    });
  });

const prefixOf = ({ baseUrl }: ClientOptions): string =>
  new URL(baseUrl).pathname.replace(/\/+$/, "");

/**
 * Send by a dispatcher of the caller's, which has its own connections: they are asked for when the
 * request is permitted, and what is not begun within a second then is not sent.
 */
const sendBy = (dispatcher: ClientDispatcher, options: ClientOptions): Send => {
  const { origin } = new URL(options.baseUrl);
  const prefix = prefixOf(options);
  return (request, mayBeSent) => {
    const timeoutMs = request.timeoutMs ?? options.requestTimeoutMs;
    const exchangeOptions: ExchangeOptions = {
      timeoutMs,
      whyLate: "its dispatcher had no connection for it soon enough",
      startIsCertain: false,
      refusal: () => undefined,
    };
    const exchanged = dispatched(
      (exchange) => dispatcher.dispatch({ ...toDispatch(request, prefix), origin }, exchange),
      exchangeOptions,
      timeoutMs,
    );
    return mayBeSent === undefined ? exchanged : Effect.andThen(mayBeSent, exchanged);
  };
};

/** A kept connection was closed by the other side before anything was sent on it. */
class StaleConnection {
  readonly leftMs: number;
  constructor(leftMs: number) {
    this.leftMs = leftMs;
  }
}

/**
 * Open the connections to the service. Our own timers cover the wait for a connection, connecting,
 * sending and reading the whole body, so undici's partial ones are off.
 */
export const makeSend = (options: ClientOptions): Effect.Effect<Send, never, Scope.Scope> =>
  Effect.gen(function* () {
    if (options.dispatcher !== undefined) return sendBy(options.dispatcher, options);
    const prefix = prefixOf(options);
    const open = (isKept: boolean) =>
      Effect.acquireRelease(
        Effect.sync(() => new Connections(options, { most: options.maxConnections, isKept })),
        (opened) => Effect.sync(() => opened.close()),
      );
    const kept = yield* open(true);
    const fresh = yield* open(false);

    const exchange = (connection: Connection, request: WireRequest, leftMs: number) =>
      Effect.mapError(
        dispatched(
          (exchanging) => connection.client.dispatch(toDispatch(request, prefix), exchanging),
          {
            timeoutMs: request.timeoutMs ?? options.requestTimeoutMs,
            // There is nothing to wait for in between.
            whyLate: "the process stood still before it was sent",
            startIsCertain: true,
            refusal: () => connection.refusal,
          },
          leftMs,
        ),
        (outcome) => (!outcome.sent && connection.isStale ? new StaleConnection(leftMs) : outcome),
      );

    const sendWithin = <E>(
      timeoutMs: number,
      request: WireRequest,
      mayBeSent: Effect.Effect<void, E> | undefined,
    ): Effect.Effect<WireResponse, NoResponse | E> =>
      (request.dedicatedConnection ? fresh : kept)
        .use(timeoutMs, (connection, leftMs) => {
          const exchanged = exchange(connection, request, leftMs);
          return mayBeSent === undefined ? exchanged : Effect.andThen(mayBeSent, exchanged);
        })
        .pipe(
          Effect.catchIf(
            (error) => error instanceof StaleConnection,
            ({ leftMs }) => sendWithin(leftMs, request, mayBeSent),
          ),
        );

    const send: Send = (request, mayBeSent) =>
      sendWithin(request.timeoutMs ?? options.requestTimeoutMs, request, mayBeSent);
    return send;
  });
