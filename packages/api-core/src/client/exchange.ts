import { promisify } from "node:util";
import { brotliDecompress, type InputType, unzip } from "node:zlib";
import type { Dispatcher } from "undici";
import { lookUp, messageOf, PERMITTED_FOR_MS } from "../values.ts";
import { connectionFault, NoResponse } from "./no-response.ts";
import type { ResponseHeaders, WireResponse } from "./send.ts";

/** The longest response that is read, before and after decoding: a page of the service has 100 items. */
export const LARGEST_RESPONSE_BYTES = 16 * 1024 * 1024;

/** The codings that the client asks for, as the header `accept-encoding` has them. */
export const ACCEPTED_CODINGS = "gzip, br, deflate";

type Decompress = (
  bytes: InputType,
  options: { readonly maxOutputLength: number },
) => Promise<Buffer>;

// undici's decompress interceptor would do this too, but it warns on standard error that it is experimental.
const zlib: Decompress = promisify(unzip);

const decompressors: Readonly<Record<string, Decompress>> = {
  gzip: zlib,
  "x-gzip": zlib,
  deflate: zlib,
  br: promisify(brotliDecompress),
};

/** Decodes the bytes of a response; rejects with a reason that a person can read. */
const decode = async (bytes: Buffer, coding: string): Promise<Buffer> => {
  const decompress = lookUp(decompressors, coding);
  if (decompress === undefined)
    throw new Error("its response has an encoding that was not requested");
  return decompress(bytes, { maxOutputLength: LARGEST_RESPONSE_BYTES }).catch((error: unknown) => {
    const isTooLong =
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw new Error(
      isTooLong ? "its response is too long" : `its response is not valid ${coding}`,
      { cause: error },
    );
  });
};

/** Settings of an exchange. */
export interface ExchangeOptions {
  readonly timeoutMs: number;
  /** The monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** When the caller permitted the send, by that clock: good for one second. Reads need no permission. */
  readonly permittedAt: number | undefined;
  /**
   * Whether undici's `onRequestStart` is known to come before the first byte. A dispatcher of the caller
   * may not be undici's.
   */
  readonly startIsCertain: boolean;
  /** Where the connection leads, for a message about a connection that could not be made. */
  readonly where: string;
  /** Why the other side refused the last connection, if it did: undici's own error says less. */
  readonly refusal: () => Error | undefined;
}

const REPEATS_NOTHING =
  "Give the client a dispatcher that neither repeats nor redirects requests: no RetryAgent, and no interceptor that does.";

/** The code of undici's InvalidArgumentError. */
const INVALID_ARGUMENT = "UND_ERR_INVALID_ARG";

/** The code of undici's RequestRetryError: a response with which its retry handler ends without passing it on. */
const NOT_REPEATED = "UND_ERR_REQ_RETRY";

const utf8 = new TextDecoder();

/**
 * One exchange.
 *
 * Error codes do not say whether anything was sent: the same fault occurs before and after sending (a lost
 * route, a reset). undici calls `onRequestStart` right before it writes the first byte, so a request for
 * which it was not called was not sent, whatever went wrong.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  #coding = "";
  readonly #chunks: Array<Buffer> = [];
  readonly #settle: (outcome: WireResponse | NoResponse) => void;
  readonly #options: ExchangeOptions;
  readonly #startBefore: number;

  constructor(options: ExchangeOptions, settle: (outcome: WireResponse | NoResponse) => void) {
    this.#options = options;
    this.#settle = settle;
    const { permittedAt } = options;
    this.#startBefore = permittedAt === undefined ? Infinity : permittedAt + PERMITTED_FOR_MS;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#controller !== undefined) {
      // Only the operation's class decides what may be repeated.
      this.#fail("its dispatcher began to send it again", REPEATS_NOTHING);
    } else if (this.#options.now() > this.#startBefore) {
      this.#fail("no connection was ready within a second of the permission to send");
    }
    // Given up before it was sent: it must not be sent any more.
    if (this.#isOver) controller.abort(new Error("aborted"));
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
    this.#coding = String(headers["content-encoding"] ?? "")
      .trim()
      .toLowerCase();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const bytes = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    if (bytes === undefined || this.#coding === "" || this.#coding === "identity") {
      return this.#succeed(bytes);
    }
    // The time limit keeps running meanwhile.
    decode(bytes, this.#coding).then(
      (decoded) => this.#succeed(decoded),
      (error: unknown) => this.#fail(messageOf(error)),
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.breakOff(error);
  }

  /** There will be no response. */
  breakOff(error: Error): void {
    const code = "code" in error ? error.code : undefined;
    const isInvalid = code === INVALID_ARGUMENT;
    // Before the send, the request itself is invalid; after it, a dispatcher could not redirect it.
    if (this.#controller !== undefined && (isInvalid || code === NOT_REPEATED)) {
      return this.#fail("its dispatcher did not pass on the response", REPEATS_NOTHING);
    }
    const { isBeforeSending, reason, remedy } = connectionFault(this.#options.refusal() ?? error);
    const isSent = this.#isSent(isBeforeSending);
    const place = isSent || isInvalid ? "" : ` (${this.#options.where})`;
    this.#end(new NoResponse(isSent, reason + place, remedy));
  }

  /** The time is over. */
  timeOut(): void {
    const { timeoutMs, where } = this.#options;
    this.#fail(
      this.#isSent()
        ? `no complete response within ${timeoutMs} ms`
        : `no connection within ${timeoutMs} ms (${where})`,
    );
    this.close();
  }

  /** Closes the connection, or prevents the request from being sent at all. */
  close(): void {
    this.#isOver = true;
    this.#controller?.abort(new Error("aborted"));
  }

  #succeed(bytes: Buffer | undefined): void {
    this.#end({
      status: this.#status,
      headers: this.#headers,
      body: bytes === undefined ? "" : utf8.decode(bytes),
    });
  }

  #isSent(isProvenUnsent = false): boolean {
    return this.#controller !== undefined || !(this.#options.startIsCertain || isProvenUnsent);
  }

  #fail(reason: string, remedy?: string): void {
    this.#end(new NoResponse(this.#isSent(), reason, remedy));
  }

  #end(outcome: WireResponse | NoResponse): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // undici is done with the connection only after this event.
    queueMicrotask(() => this.#settle(outcome));
  }
}
