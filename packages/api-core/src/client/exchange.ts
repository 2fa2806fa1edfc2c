import type { Dispatcher } from "undici";
import { messageOf } from "../values.ts";
import { LARGEST_RESPONSE_BYTES } from "./connections.ts";
import { decodeBody, isCoded } from "./content-coding.ts";
import { connectionFault, NoResponse } from "./no-response.ts";
import type { ResponseHeaders, WireResponse } from "./wire.ts";

/** Longest time between the permission to send a request and its first byte. */
const PERMITTED_FOR_MS = 1_000;

/** What an exchange is made with. */
export interface ExchangeOptions {
  readonly timeoutMs: number;
  /** Why it was too late for a permission that was given when the exchange was made. */
  readonly whyLate: string;
  /**
   * Whether it is known that undici's `onRequestStart` comes before the first byte. A dispatcher of the
   * caller's may be of any make.
   */
  readonly startIsCertain: boolean;
  /** Why the other side refused the connection, if it has. */
  readonly refusal: () => Error | undefined;
}

const REPEATS_NOTHING =
  "Give the client a dispatcher that repeats and redirects nothing: no RetryAgent, no such interceptor.";

/** The code of undici's InvalidArgumentError. */
const INVALID_ARGUMENT = "UND_ERR_INVALID_ARG";

const utf8 = new TextDecoder();

/**
 * One exchange.
 *
 * Whether anything was sent is not read off error codes, which the same fault shares before and
 * after sending (a lost route, a reset): undici calls `onRequestStart` right before it writes the
 * first byte, and a request for which it did not was not sent, whatever went wrong.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  #retryAfter: string | undefined;
  #coding = "";
  readonly #chunks: Array<Buffer> = [];
  readonly #settle: (outcome: WireResponse | NoResponse) => void;
  readonly #options: ExchangeOptions;
  readonly #permittedUntil = performance.now() + PERMITTED_FOR_MS;

  constructor(options: ExchangeOptions, settle: (outcome: WireResponse | NoResponse) => void) {
    this.#options = options;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#controller !== undefined) {
      // What may be repeated, the class of the operation says, and nothing else.
      this.#fail("its dispatcher began to send it again", REPEATS_NOTHING);
    } else if (performance.now() > this.#permittedUntil) {
      this.#fail(this.#options.whyLate);
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
    this.breakOff(error);
  }

  /** There will be no response. */
  breakOff(error: Error): void {
    // Of this code before the send: the request is none. After it, a dispatcher could not redirect it.
    if (this.#controller !== undefined && "code" in error && error.code === INVALID_ARGUMENT) {
      return this.#fail("its dispatcher did not hand on the answer", REPEATS_NOTHING);
    }
    const { isBeforeSending, reason, remedy } = connectionFault(this.#options.refusal() ?? error);
    this.#fail(reason, remedy, isBeforeSending);
  }

  /** The time is over. */
  timeOut(): void {
    this.#fail(`no whole answer within ${this.#options.timeoutMs} ms`);
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

  /** @param isCertain whether it tells by itself that nothing was sent. */
  #fail(reason: string, remedy?: string, isCertain = false): void {
    const isSent = this.#controller !== undefined || !(this.#options.startIsCertain || isCertain);
    this.#end(new NoResponse(isSent, reason, remedy));
  }

  #end(outcome: WireResponse | NoResponse): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // undici is done with the connection only when it is done with the event.
    queueMicrotask(() => this.#settle(outcome));
  }
}
