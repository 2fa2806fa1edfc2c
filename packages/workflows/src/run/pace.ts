import type { Pace } from "@durable-payments/activities";
import type { Duration } from "./duration.ts";
import { msToNumber } from "@temporalio/common/lib/time.js";

/** Bounds of the time between two looks: a tenth of the time waited so far, within these. */
export interface PollInterval {
  /** Default 1 second. */
  readonly min?: Duration;
  /** Default 15 minutes. */
  readonly max?: Duration;
}

/** The pace of a waiting activity. */
export const pace = ({ max = "15 minutes", min = "1 second" }: PollInterval = {}): Pace => ({
  minIntervalMs: msToNumber(min),
  maxIntervalMs: msToNumber(max),
});
