import { Context, Metric } from "effect";

/** The registry of metrics of the process. */
const REGISTRY = Context.empty();

/** Counts a failure of a step for the metrics of this process, by its type. Types that mean wrong money page a person. */
export const countFailure = (type: string): void =>
  Metric.counter("payments_failures_total", {
    description: "Steps that have failed for good in this process, by the type of the failure",
    attributes: { type },
  }).updateUnsafe(1, REGISTRY);
