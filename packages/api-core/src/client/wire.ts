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

/**
 * When the server answered, by its own clock: the header `Date`, in milliseconds since 1970. Only times of the same
 * response are compared with it. A proxy may have written it, so whatever it decides has to be bounded.
 */
export const answeredAt = ({ headers }: Pick<WireResponse, "headers">): number | undefined => {
  const at = Date.parse(String(headers["date"]));
  return Number.isNaN(at) ? undefined : at;
};

/** However long a server asks to wait, it is asked again within a day. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** Longest wait for a date: if it and `Date` are of two clocks, the rest of the wait is their difference. */
const LONGEST_DATED_MS = 2 * 60 * 1000;

/** The wait for a date in a response without `Date`: our own clock does not say how long that is. */
const UNDATED_WAIT_MS = 30_000;

/**
 * Reads `Retry-After`, seconds or an HTTP date, as whole milliseconds.
 *
 * @param answered when the server answered; see {@link answeredAt}.
 * @returns undefined if it cannot be read, or is a date that has passed.
 */
export const retryAfterMs = (header: string, answered: number | undefined): number | undefined => {
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Math.min(LONGEST_MS, Number(text) * 1000));
  const until = Date.parse(text);
  if (Number.isNaN(until)) return undefined;
  if (answered === undefined) return UNDATED_WAIT_MS;
  return until > answered ? Math.min(LONGEST_DATED_MS, until - answered) : undefined;
};
