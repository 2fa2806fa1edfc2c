import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import type { PaymentsError } from "./errors.ts";

/** How a request ended. */
export type Outcome = "Success" | PaymentsError["_tag"];

const DESCRIPTION = "Requests sent to the payments service, by operation and outcome";

// One counter for each pair: adding attributes with each update costs as much as checking a request.
const counters = new Map<string, Metric.Counter<number>>();

const counterOf = (operation: string, outcome: Outcome): Metric.Counter<number> => {
  const key = `${operation} ${outcome}`;
  let counter = counters.get(key);
  if (counter === undefined) {
    counter = Metric.counter("payments_client_attempts", {
      description: DESCRIPTION,
      incremental: true,
      attributes: { operation, outcome },
    });
    counters.set(key, counter);
  }
  return counter;
};

/** Counts one request, sent or given up before. */
export const countAttempt = (operation: string, outcome: Outcome): Effect.Effect<void> =>
  Metric.update(counterOf(operation, outcome), 1);
