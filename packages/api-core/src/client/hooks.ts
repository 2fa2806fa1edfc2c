import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Result from "effect/Result";
import { NoResponse } from "./no-response.ts";
import type { Hooks, RequestEvent, ResponseEvent } from "./hook-events.ts";
import type { Say } from "./say.ts";
import type { Send, WireRequest, WireResponse } from "./wire.ts";
import { messageOf } from "../values.ts";

const LONGEST_REQUEST_ID = 200;

const requestIdOf = ({ headers }: WireResponse): string | undefined => {
  const id = headers["x-request-id"] ?? headers["request-id"];
  return typeof id === "string" ? id.slice(0, LONGEST_REQUEST_ID) : undefined;
};

const problemOf = (cause: Cause.Cause<unknown>): string => {
  const failed = Cause.findError(cause);
  if (Result.isFailure(failed)) return "given up";
  return failed.success instanceof NoResponse ? failed.success.reason : "not sent";
};

const outcomeOf = (exit: Exit.Exit<WireResponse, unknown>): Partial<ResponseEvent> => {
  if (Exit.isFailure(exit)) return { problem: problemOf(exit.cause) };
  const requestId = requestIdOf(exit.value);
  return { status: exit.value.status, ...(requestId !== undefined && { requestId }) };
};

const eventOf = ({ attempt, method, operation }: WireRequest): RequestEvent => ({
  operation: operation.name,
  method,
  path: operation.path.replace(/:(\w+)/g, "{$1}"),
  attempt,
});

/** Tells a hook, whatever it does; its first fault is logged. */
const makeTell = <Event>(
  name: keyof Hooks,
  hook: ((event: Event) => unknown) | undefined,
  say: Say,
) => {
  let hasFailed = false;
  const note = (error: unknown): Effect.Effect<void> => {
    if (hasFailed) return Effect.void;
    hasFailed = true;
    return say.warn(`${name} failed, which changed no call: ${messageOf(error)}`);
  };
  return (event: Event): Effect.Effect<void> =>
    Effect.suspend(() => {
      try {
        // Nobody waits for an async hook; that it rejects must not end the process.
        Promise.resolve(hook?.(event)).catch((error: unknown) => Effect.runFork(note(error)));
        return Effect.void;
      } catch (error) {
        return note(error);
      }
    });
};

/** Tell the hooks of each send; where there are none, the send is what it was. */
export const withHooks = (send: Send, { onRequest, onResponse }: Hooks, say: Say): Send => {
  if (onRequest === undefined && onResponse === undefined) return send;
  const tellRequest = makeTell("onRequest", onRequest, say);
  const tellResponse = makeTell("onResponse", onResponse, say);
  return (request, mayBeSent) =>
    Effect.uninterruptibleMask((restore) => {
      const event = eventOf(request);
      const beganAt = performance.now();
      return Effect.andThen(
        tellRequest({ ...event }),
        Effect.onExit(restore(send(request, mayBeSent)), (exit) =>
          tellResponse({
            ...event,
            durationMs: performance.now() - beganAt,
            ...outcomeOf(exit),
          }),
        ),
      );
    });
};
