/** A length of time: milliseconds, or a text as Temporal reads it, such as `"90 seconds"` or `"30 days"`. */
export type Duration = string | number;

/**
 * Bounds of the time between two polls: a tenth of the time waited so far, within these. A run that
 * the tracker signals polls seldom by itself: from every hour to every six hours. What it must find
 * out alone it polls from every second to every 15 minutes.
 */
export interface PollInterval {
  /** Shortest time between two polls. */
  readonly min?: Duration;
  /** Longest time between two polls. */
  readonly max?: Duration;
}
