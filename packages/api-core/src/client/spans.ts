import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Tracer from "effect/Tracer";
import { traceparentOf } from "../tracing/tracing.ts";
import type { Send, WireRequest } from "./wire.ts";

/** A stack trace for each span would cost more than checking the request. */
export const SPAN = { kind: "client", captureStackTrace: false } as const;

/** Whether anybody sees a span: the default tracer keeps none. */
export const isTraced = (tracer: Tracer.Tracer): boolean => tracer !== Tracer.nativeTracer;

const templateOf = ({ operation }: WireRequest): string =>
  operation.path.replace(/:(\w+)/g, "{$1}");

/**
 * Give each send a span, where somebody traces, and tell the service of it in the header `traceparent`, unless the
 * caller does. It has no value of path, query, headers or body.
 */
export const withSpans =
  (send: Send): Send =>
  (request, mayBeSent) =>
    Effect.withFiber((fiber) => {
      if (!isTraced(fiber.getRef(Tracer.Tracer))) return send(request, mayBeSent);
      const { attempt, headers, method } = request;
      const template = templateOf(request);
      const attributes = {
        "http.request.method": method,
        "url.template": template,
        ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
      };
      const exchanged = (span: Tracer.Span) =>
        send({ ...request, headers: { traceparent: traceparentOf(span), ...headers } }, mayBeSent);
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.makeSpan(`${method} ${template}`, { ...SPAN, attributes }), (span) =>
          Effect.onExit(restore(exchanged(span)), (exit) =>
            Effect.clockWith((clock) =>
              Effect.sync(() => {
                if (Exit.isSuccess(exit)) {
                  span.attribute("http.response.status_code", exit.value.status);
                }
                // Without the response: whoever traces would keep it as it came.
                span.end(clock.currentTimeNanosUnsafe(), Exit.asVoid(exit));
              }),
            ),
          ),
        ),
      );
    });
