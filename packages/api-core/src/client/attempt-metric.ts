import * as Context from "effect/Context";
import * as Metric from "effect/Metric";
import type { PaymentsError } from "./errors.ts";

/** How a request ended. */
export type Outcome = "Success" | PaymentsError["_tag"];

type Histogram = ReturnType<typeof Metric.histogram>;

const DESCRIPTION =
  "Requests to the payments service by operation and outcome, and how long they took";

/** From a service in the same rack to one that is about to be given up. */
const BOUNDARIES = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

// One for each pair: adding attributes with each update costs as much as checking a request.
const histograms = new Map<string, Histogram>();

/** That of the process. */
const REGISTRY = Context.empty();

/**
 * Count one request that was sent, or given up before.
 *
 * @param sentMs how long its sends took, in milliseconds.
 */
export const countAttempt = (operation: string, outcome: Outcome, sentMs: number): void => {
  const key = `${operation} ${outcome}`;
  let histogram = histograms.get(key);
  if (histogram === undefined) {
    histogram = Metric.histogram("payments_request_duration_seconds", {
      description: DESCRIPTION,
      boundaries: BOUNDARIES,
      attributes: { operation, outcome },
    });
    histograms.set(key, histogram);
  }
  histogram.updateUnsafe(sentMs / 1000, REGISTRY);
};
