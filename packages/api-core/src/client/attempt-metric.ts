import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import type { PaymentsError } from "./errors.ts";

/** How a request ended. */
export type Outcome = "Success" | PaymentsError["_tag"];

const DESCRIPTION = "Requests sent to the payments service, by operation and outcome";

// One counter for each pair: adding attributes with each update costs as much as checking a request.
const counts = new Map<string, Effect.Effect<void>>();

/** Count one request, sent or given up before. */
export const countAttempt = (operation: string, outcome: Outcome): Effect.Effect<void> => {
  const key = `${operation} ${outcome}`;
  let count = counts.get(key);
  if (count === undefined) {
    const counter = Metric.counter("payments_client_attempts", {
      description: DESCRIPTION,
      incremental: true,
      attributes: { operation, outcome },
    });
    count = Metric.update(counter, 1);
    counts.set(key, count);
  }
  return count;
};
