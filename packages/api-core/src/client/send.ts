import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { Dispatcher } from "undici";
import type { ClientOptions } from "./config.ts";
import { type Connection, Connections, LARGEST_RESPONSE_BYTES } from "./connections.ts";
import { connectionFault, NoResponse } from "./no-response.ts";
import { messageOf } from "../values.ts";
import type { Operation } from "./operations.ts";
import { ACCEPTED_CODINGS, decodeBody, isCoded } from "./content-coding.ts";

/** One HTTP request as it is sent, after the base URL. */
export interface WireRequest {
  /** What it is a send of, and which one of its call, from 1: for those who watch. */
  readonly operation: Pick<Operation, "name" | "path">;
  readonly attempt: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /**
   * Whether it needs a dedicated connection. A kept one may have been closed by the other side
   * without our knowing yet, and then nobody can say whether the request was taken.
   */
  readonly dedicatedConnection: boolean;
  /** Its longest time, where it is not the client's `requestTimeoutMs`. */
  readonly timeoutMs?: number;
}

/** Headers as they came, by their names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>;

/** One whole HTTP answer. */
export interface WireResponse {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: ResponseHeaders;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/**
 * Sends one request and reads its whole answer. Interruption closes the request at once.
 *
 * @param mayBeSent run when a connection is open for the request, which is sent where it succeeds,
 *   and at once then. Run again where the connection was lost in between.
 */
export type Send = <E = never>(
  request: WireRequest,
  mayBeSent?: Effect.Effect<void, E>,
) => Effect.Effect<WireResponse, NoResponse | E>;

/** The version is that of the package; a test compares them. */
const USER_AGENT = "durable-payments/0.1.0";

/**
 * Longest time between the permission to send a request and its first byte. There is nothing to wait
 * for in between: the process stood still.
 */
const PERMITTED_FOR_MS = 1_000;

const utf8 = new TextDecoder();

/**
 * One exchange on an open connection.
 *
 * Whether anything was sent is not read off error codes, which the same fault shares before and
 * after sending (a lost route, a reset): undici calls `onRequestStart` right before it writes the
 * first byte, and a request for which it did not was not sent, whatever went wrong.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  #retryAfter: string | undefined;
  #coding = "";
  readonly #chunks: Array<Buffer> = [];
  readonly #settle: (outcome: WireResponse | NoResponse) => void;
  readonly #timeoutMs: number;
  readonly #connection: Pick<Connection, "refusal">;
  readonly #permittedUntil = performance.now() + PERMITTED_FOR_MS;

  constructor(
    connection: Pick<Connection, "refusal">,
    timeoutMs: number,
    settle: (outcome: WireResponse | NoResponse) => void,
  ) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (performance.now() > this.#permittedUntil) {
      this.#fail("the process stood still before it was sent");
    }
    // Given up before it was sent: it must not be sent any more.
    if (this.#isOver) controller.abort(new Error("given up"));
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const one = (name: string) => {
      const value = headers[name];
      return typeof value === "string" ? value : value?.join(",");
    };
    this.#retryAfter = one("retry-after");
    this.#coding = one("content-encoding") ?? "";
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const bytes = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    if (bytes === undefined || !isCoded(this.#coding)) return this.#succeed(bytes);
    // The time runs on meanwhile.
    decodeBody(bytes, this.#coding, LARGEST_RESPONSE_BYTES).then(
      (decoded) => this.#succeed(decoded),
      (error: unknown) => this.#fail(messageOf(error)),
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { reason, remedy } = connectionFault(this.#connection.refusal ?? error);
    this.#fail(reason, remedy);
  }

  /** The time is over. */
  timeOut(): void {
    this.#fail(`no whole answer within ${this.#timeoutMs} ms`);
    this.close();
  }

  /** Closes the connection, or sees to it that the request is not sent at all. */
  close(): void {
    this.#isOver = true;
    this.#controller?.abort(new Error("given up"));
  }

  #succeed(bytes: Uint8Array | undefined): void {
    this.#end({
      status: this.#status,
      headers: this.#headers,
      retryAfter: this.#retryAfter,
      body: bytes === undefined ? "" : utf8.decode(bytes),
    });
  }

  #fail(reason: string, remedy?: string): void {
    this.#end(new NoResponse(this.#controller !== undefined, reason, remedy));
  }

  #end(outcome: WireResponse | NoResponse): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // undici is done with the connection only when it is done with the event.
    queueMicrotask(() => this.#settle(outcome));
  }
}

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
    const prefix = new URL(options.baseUrl).pathname.replace(/\/+$/, "");
    const timeout = options.requestTimeoutMs;
    const open = (isKept: boolean) =>
      Effect.acquireRelease(
        Effect.sync(() => new Connections(options, { most: options.maxConnections, isKept })),
        (opened) => Effect.sync(() => opened.close()),
      );
    const kept = yield* open(true);
    const fresh = yield* open(false);

    const exchange = (connection: Connection, request: WireRequest, leftMs: number) =>
      Effect.callback<WireResponse, NoResponse | StaleConnection>((resume) => {
        const exchanging = new Exchange(connection, request.timeoutMs ?? timeout, (outcome) => {
          clearTimeout(timer);
          if (!(outcome instanceof NoResponse)) return resume(Effect.succeed(outcome));
          const isStale = !outcome.sent && connection.isStale;
          resume(Effect.fail(isStale ? new StaleConnection(leftMs) : outcome));
        });
        // A plain timer costs a tenth of a racing fiber, and every request pays for it.
        // @effect-diagnostics-next-line globalTimersInEffect:off
        const timer = setTimeout(() => exchanging.timeOut(), leftMs);
        connection.client.dispatch(
          {
            method: request.method,
            path: prefix + request.path,
            headers: {
              ...request.headers,
              accept: "application/json",
              "accept-encoding": ACCEPTED_CODINGS,
              "user-agent": USER_AGENT,
            },
            body: request.body ?? null,
          },
          exchanging,
        );
        return Effect.sync(() => {
          clearTimeout(timer);
          exchanging.close();
        });
      });

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

    return (request, mayBeSent) => sendWithin(request.timeoutMs ?? timeout, request, mayBeSent);
  });
