import { Effect, type Scope } from "effect";
import { type Dispatcher, Pool } from "undici";
import type { ClientOptions } from "./config.ts";
import { ACCEPTED_CODINGS, decodeBody, isCoded } from "./content-coding.ts";

/** One HTTP request as it goes on the wire, after the base URL. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /**
   * Whether it needs a connection of its own. A kept one may have been closed by the other side
   * without our knowing yet, and then nobody can say whether the request was taken.
   */
  readonly isAlone: boolean;
}

/** One whole HTTP answer. */
export interface WireAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** No whole answer came. `sent: false` only where it is certain that no byte of the request left. */
export class NoAnswer {
  readonly _tag = "NoAnswer";
  readonly sent: boolean;
  readonly reason: string;
  constructor(sent: boolean, reason: string) {
    this.sent = sent;
    this.reason = reason;
  }
}

/** Sends one request and reads its whole answer. Interruption closes the request at once. */
export type Send = (request: WireRequest) => Effect.Effect<WireAnswer, NoAnswer>;

/**
 * An answer above this is not read on, as it comes and decoded: 16 MiB. The largest page of the
 * service has 100 items.
 */
const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024;

/** The version is that of the package; a test compares them. */
const USER_AGENT = "durable-payments/0.1.0";

const LONGEST_CONNECT_MS = 10_000;

const utf8 = new TextDecoder();

const reasonOf = (error: Error): string => {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "ECONNREFUSED") return "connection refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its host name cannot be resolved";
  if (code === "UND_ERR_CONNECT_TIMEOUT") return "no connection within the time allowed";
  return code === "" ? "the connection failed" : `the connection failed (${code})`;
};

/**
 * One exchange on a connection of the pool.
 *
 * Whether anything was sent is not read off error codes, which the same fault shares before and
 * after sending (a lost route, a reset): undici calls `onRequestStart` right before it writes the
 * first byte, and a request for which it did not was not sent, whatever went wrong.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status = 0;
  #retryAfter: string | undefined;
  #coding = "";
  readonly #chunks: Array<Buffer> = [];
  readonly #settle: (outcome: Effect.Effect<WireAnswer, NoAnswer>) => void;
  readonly #timeoutMs: number;
  readonly #endsAt: number;

  constructor(timeoutMs: number, settle: (outcome: Effect.Effect<WireAnswer, NoAnswer>) => void) {
    this.#timeoutMs = timeoutMs;
    this.#endsAt = performance.now() + timeoutMs;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // After the process stood still, a connection may be there before the timer has run.
    if (performance.now() >= this.#endsAt) this.timeOut();
    // Given up while it waited for a connection: it must not be sent any more.
    if (this.#isOver) controller.abort(new Error("given up"));
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  ): void {
    if (status < 200) return;
    this.#status = status;
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
    decodeBody(bytes, this.#coding, LARGEST_ANSWER_BYTES).then(
      (decoded) => this.#succeed(decoded),
      (error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)),
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(reasonOf(error));
  }

  /** The time is over. */
  timeOut(): void {
    this.#fail(
      this.#controller === undefined
        ? `no connection was free within ${this.#timeoutMs} ms`
        : `no whole answer within ${this.#timeoutMs} ms`,
    );
    this.close();
  }

  /** Closes the connection, or sees to it that the request is not sent at all. */
  close(): void {
    this.#isOver = true;
    this.#controller?.abort(new Error("given up"));
  }

  #succeed(bytes: Uint8Array | undefined): void {
    this.#end(
      Effect.succeed({
        status: this.#status,
        retryAfter: this.#retryAfter,
        body: bytes === undefined ? "" : utf8.decode(bytes),
      }),
    );
  }

  #fail(reason: string): void {
    this.#end(Effect.fail(new NoAnswer(this.#controller !== undefined, reason)));
  }

  #end(outcome: Effect.Effect<WireAnswer, NoAnswer>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settle(outcome);
  }
}

/**
 * Opens the connections to the service. Our own timer covers connecting, sending and reading the
 * whole body, so undici's partial ones are off.
 */
export const makeSend = (options: ClientOptions): Effect.Effect<Send, never, Scope.Scope> =>
  Effect.gen(function* () {
    const base = new URL(options.baseUrl);
    const prefix = base.pathname.replace(/\/+$/, "");
    const timeout = options.requestTimeoutMs;
    const open = (pipelining: 0 | 1) =>
      Effect.acquireRelease(
        Effect.sync(
          () =>
            new Pool(base.origin, {
              connections: options.maxConnections,
              connect: { timeout: Math.min(timeout, LONGEST_CONNECT_MS) },
              // Over HTTP/2 undici repeats requests by itself when a server closes the session. What
              // may be repeated is decided by the operation's class, and nowhere else.
              allowH2: false,
              pipelining,
              headersTimeout: 0,
              bodyTimeout: 0,
              maxResponseSize: LARGEST_ANSWER_BYTES,
            }),
        ),
        (opened) => Effect.promise(() => opened.destroy()),
      );
    const kept = yield* open(1);
    // undici keeps no connection that has no pipeline.
    const fresh = yield* open(0);

    return (request) =>
      Effect.callback<WireAnswer, NoAnswer>((resume) => {
        const exchange = new Exchange(timeout, (outcome) => {
          clearTimeout(timer);
          resume(outcome);
        });
        // A plain timer costs a tenth of a racing fiber, and every request pays for it.
        // @effect-diagnostics-next-line globalTimersInEffect:off
        const timer = setTimeout(() => exchange.timeOut(), timeout);
        const pool = request.isAlone ? fresh : kept;
        pool.dispatch(
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
          exchange,
        );
        return Effect.sync(() => {
          clearTimeout(timer);
          exchange.close();
        });
      });
  });
