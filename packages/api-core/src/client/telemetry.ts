import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Metric from "effect/Metric";
import * as Tracer from "effect/Tracer";
import type { PaymentsError } from "./errors.ts";
import { monotonicMs } from "./clock.ts";
import type { Failed } from "./outcomes.ts";
import type { TokenRejected } from "./parse-response.ts";
import type { Answer, Send } from "./send.ts";

/** A stack trace for each span would cost more than checking the request. */
export const SPAN = { kind: "client", captureStackTrace: false } as const;

/** Whether anybody sees a span: the default tracer keeps none. */
export const isTraced = (tracer: Tracer.Tracer): boolean => tracer !== Tracer.nativeTracer;

/**
 * Names a span as W3C's header `traceparent` does.
 *
 * @param span the parent of what the receiver does
 * @returns the value of the header
 */
const traceparentOf = ({
  sampled,
  spanId,
  traceId,
}: Pick<Tracer.AnySpan, "sampled" | "spanId" | "traceId">): string =>
  `00-${traceId.padStart(32, "0")}-${spanId.padStart(16, "0")}-${sampled ? "01" : "00"}`;

/**
 * Gives each send a span if somebody traces, and sends it to the service in the header `traceparent`, unless the
 * caller sets that. The span has no value of path, query, headers or body.
 */
export const withSpans =
  (send: Send): Send =>
  (request) =>
    Effect.withFiber((fiber) => {
      if (!isTraced(fiber.getRef(Tracer.Tracer))) return send(request);
      const { attempt, headers, method } = request;
      const { template } = request.operation;
      const attributes = {
        "http.request.method": method,
        "url.template": template,
        ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
      };
      const exchanged = (span: Tracer.Span) =>
        send({ ...request, headers: { traceparent: traceparentOf(span), ...headers } });
      return Effect.acquireUseRelease(
        Effect.makeSpan(`${method} ${template}`, { ...SPAN, attributes }),
        exchanged,
        (span, exit) =>
          Effect.clockWith((clock) =>
            Effect.sync(() => {
              if (Exit.isSuccess(exit)) {
                span.attribute("http.response.status_code", exit.value.status);
              }
              // Without the response, which an exporter would keep as it came.
              span.end(clock.currentTimeNanosUnsafe(), Exit.asVoid(exit));
            }),
          ),
      );
    });

type Histogram = ReturnType<typeof Metric.histogram>;

/** From a service in the same rack to a request that is about to time out. */
const BOUNDARIES = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

// One for each pair: adding attributes with each update costs as much as checking a request.
const histograms = new Map<string, Histogram>();

/** The registry of the process. */
const REGISTRY = Context.empty();

const count = (
  operation: string,
  outcome: "Success" | PaymentsError["_tag"],
  tookMs: number,
): void => {
  const key = `${operation} ${outcome}`;
  let histogram = histograms.get(key);
  if (histogram === undefined) {
    histogram = Metric.histogram("payments_request_duration_seconds", {
      description:
        "Requests to the payments service by operation and outcome, and how long they took",
      boundaries: BOUNDARIES,
      attributes: { operation, outcome },
    });
    histograms.set(key, histogram);
  }
  histogram.updateUnsafe(tookMs / 1000, REGISTRY);
};

/** Counts each send by its outcome, and how long it took. A rejected token counts as `NotAuthenticated`. */
export const withCounting =
  <E extends Failed | TokenRejected>(send: Send<Answer, E>): Send<Answer, E> =>
  (request) =>
    Effect.clockWith((clock) => {
      const beganAt = monotonicMs(clock);
      const counted = (outcome: "Success" | PaymentsError["_tag"]) =>
        count(request.operation.name, outcome, monotonicMs(clock) - beganAt);
      return Effect.matchEffect(send(request), {
        onSuccess: (answer) => {
          counted("Success");
          return Effect.succeed(answer);
        },
        onFailure: (failure: E) => {
          counted(failure._tag === "Failed" ? failure.error._tag : "NotAuthenticated");
          return Effect.fail(failure);
        },
      });
    });
