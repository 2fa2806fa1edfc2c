import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import type { PaymentsError } from "./errors.ts";

/** How a request ended. */
export type Outcome = "Success" | PaymentsError["_tag"];

const attempts = Metric.counter("payments_client_attempts", {
  description: "Requests sent to the payments service, by operation and outcome",
  incremental: true,
});

// Looking a counter up by its attributes costs as much as checking a request.
const counters = new Map<string, Metric.Counter<number>>();

/** Counts one request, sent or given up before. */
export const countAttempt = (operation: string, outcome: Outcome): Effect.Effect<void> => {
  const key = `${operation} ${outcome}`;
  let counter = counters.get(key);
  if (counter === undefined) {
    counter = Metric.withAttributes(attempts, { operation, outcome });
    counters.set(key, counter);
  }
  return Metric.update(counter, 1);
};
