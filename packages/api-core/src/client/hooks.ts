import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Result from "effect/Result";
import { NoResponse } from "./no-response.ts";
import { callAside, type Say } from "./say.ts";
import { monotonicMs } from "./clock.ts";
import type { Send, WireResponse } from "./send.ts";
import { messageOf } from "../values.ts";

/** A send, as `onRequest` gets it: without any value of its path, query, headers or body. */
export interface RequestEvent {
  /** Name of the operation, as in the contract; `signIn` if the client signs in itself. */
  readonly operation: string;
  /** HTTP method. */
  readonly method: string;
  /** Template of the path: `/api/v1/payouts/{payout_id}/retrieve`. */
  readonly path: string;
  /** Number of this send within its call, from 1. */
  readonly attempt: number;
}

/** The same send after its response, or its loss, as `onResponse` gets it. */
export interface ResponseEvent extends RequestEvent {
  /** From `onRequest`, with the wait for a connection, to the last byte of the response. */
  readonly durationMs: number;
  /** HTTP status; absent if no whole response came. A refusal may come with 200. */
  readonly status?: number;
  /** The response's header `x-request-id` or `request-id`, if it has one. */
  readonly requestId?: string;
  /** Why no whole response came: connection refused, given up, not permitted by `BeforeSend`. */
  readonly problem?: string;
}

/** Functions that are notified of each send. */
export interface Hooks {
  /**
   * Called before each send, retries and sign-ins included, before the wait for a connection. Not
   * awaited. An error of the hook is logged once as a warning, and changes nothing.
   */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /**
   * Called exactly once after each `onRequest`: with a status, or with why no whole response came.
   * Not awaited. An error of the hook is logged once as a warning, and changes nothing.
   */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
}

const LONGEST_REQUEST_ID = 200;

const requestIdOf = ({ headers }: WireResponse): string | undefined => {
  const id = headers["x-request-id"] ?? headers["request-id"];
  return typeof id === "string" ? id.slice(0, LONGEST_REQUEST_ID) : undefined;
};

const problemOf = (cause: Cause.Cause<unknown>): string => {
  const failed = Cause.findError(cause);
  if (Result.isFailure(failed)) return "aborted";
  return failed.success instanceof NoResponse ? failed.success.reason : "not sent";
};

const outcomeOf = (exit: Exit.Exit<WireResponse, unknown>): Partial<ResponseEvent> => {
  if (Exit.isFailure(exit)) return { problem: problemOf(exit.cause) };
  const requestId = requestIdOf(exit.value);
  return { status: exit.value.status, ...(requestId !== undefined && { requestId }) };
};

/** Notifies a hook; its first fault is logged, and changes nothing. */
const makeTell = <Event>(
  name: keyof Hooks,
  hook: ((event: Event) => unknown) | undefined,
  say: Say,
) => {
  let hasFailed = false;
  const note = (error: unknown): Effect.Effect<void> => {
    if (hasFailed) return Effect.void;
    hasFailed = true;
    return say.warn(`${name} failed, without affecting the call: ${messageOf(error)}`);
  };
  return (event: Event): Effect.Effect<void> => callAside(() => hook?.(event), note);
};

/** Notifies the hooks of each send. */
export const withHooks = (send: Send, { onRequest, onResponse }: Hooks, say: Say): Send => {
  if (onRequest === undefined && onResponse === undefined) return send;
  const tellRequest = makeTell("onRequest", onRequest, say);
  const tellResponse = makeTell("onResponse", onResponse, say);
  return (request) =>
    Effect.clockWith((clock) => {
      const { attempt, method, operation } = request;
      const event = { operation: operation.name, method, path: operation.template, attempt };
      const beganAt = monotonicMs(clock);
      return Effect.acquireUseRelease(
        tellRequest({ ...event }),
        () => send(request),
        (_, exit) => {
          const durationMs = monotonicMs(clock) - beganAt;
          return tellResponse({ ...event, durationMs, ...outcomeOf(exit) });
        },
      );
    });
};
