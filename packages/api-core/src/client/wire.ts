import type * as Effect from "effect/Effect";
import type { NoResponse } from "./no-response.ts";
import type { Operation } from "./operations.ts";

/** One HTTP request as it is sent, after the base URL. */
export interface WireRequest {
  /** Its operation, and the number of this send within its call, from 1: for hooks and spans. */
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
  /** Its longest time, if that is not the client's `requestTimeoutMs`. */
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
 * @param mayBeSent run when a connection is open for the request, which is sent if it succeeds,
 *   and at once then. Run again if the connection was lost in between.
 */
export type Send = <E = never>(
  request: WireRequest,
  mayBeSent?: Effect.Effect<void, E>,
) => Effect.Effect<WireResponse, NoResponse | E>;

/** However long a server asks to wait, it is asked again within a day. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/**
 * Reads `Retry-After`, seconds or an HTTP date, as whole milliseconds from `now`; undefined if it cannot be
 * read.
 */
export const retryAfterMs = (header: string, now: number): number | undefined => {
  const text = header.trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.ceil(Math.min(LONGEST_MS, Math.max(0, wait)));
};
