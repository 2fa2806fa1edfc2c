import type * as Effect from "effect/Effect";
import type { NoResponse } from "./no-response.ts";
import type { Operation } from "./operations.ts";
import type { Failed } from "./outcomes.ts";

/** Headers as they came, by their names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>;

/** One HTTP request as it is sent, after the base URL. */
export interface WireRequest {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Its longest time in milliseconds. */
  readonly timeoutMs: number;
  /** Run right before the first byte; if it fails, nothing is sent. */
  readonly permit: Effect.Effect<void, Failed> | undefined;
}

/** One whole HTTP answer. */
export interface WireResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: string;
}

/**
 * The carrier of requests to the service and of whole responses back: undici, or a function of a test.
 *
 * It runs `permit` when nothing but the send is left to do, ends after `timeoutMs`, and closes the request when it is
 * interrupted. It fails with `NoResponse`, which says whether a byte may have left. Effect's `HttpClient` cannot tell
 * that, so it is not used.
 */
export type Transport = (request: WireRequest) => Effect.Effect<WireResponse, NoResponse | Failed>;

/** A response, and the data that was read from it. */
export interface Answer {
  readonly response: WireResponse;
  readonly value: unknown;
}

/**
 * Which calls go first when the account's rate or connections are scarce: writes (`first`), reads (`normal`), and reads
 * for which nobody waits (`last`).
 */
export const PRIORITIES = ["first", "normal", "last"] as const;
export type Priority = (typeof PRIORITIES)[number];

/** A request on its way through the client: the same value for all stages, which pass on changed copies. */
export interface Outgoing extends WireRequest {
  /** Number of this send within its call, from 1. */
  readonly attempt: number;
  /** Whether the request may have been sent before, by this call or by an earlier one. */
  readonly isResend: boolean;
  /** Whether this send has a fresh token, because the token of the one before was rejected. */
  readonly hasFreshToken: boolean;
  readonly priority: Priority;
  /** The time of the whole call, and when it is over by the monotonic clock, in milliseconds. */
  readonly limit: { readonly timeoutMs: number; readonly endsAt: number } | undefined;
  readonly maxAttempts: number;
  /** Values that no message may show; they are collected when one is written. */
  readonly hidden: () => ReadonlyArray<string>;
}

/** Sends a request. Interruption closes it at once. The stages of the client make one from another. */
export type Send<A = WireResponse, E = NoResponse | Failed> = (
  request: Outgoing,
) => Effect.Effect<A, E>;

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
