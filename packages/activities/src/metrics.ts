import { Context, Metric } from "effect";

/** That of the process. */
const REGISTRY = Context.empty();

/**
 * Notes when the tracker had read everything that is due.
 *
 * @param at milliseconds since 1970.
 */
export const noteTrackerRead = (at: number): void => {
  Metric.gauge("payments_tracker_read_timestamp_seconds", {
    description: "When the tracker that this worker ran last had read all that was due",
  }).updateUnsafe(at / 1000, REGISTRY);
};
