type Long =
  | "msec"
  | "millisecond"
  | "sec"
  | "second"
  | "min"
  | "minute"
  | "hr"
  | "hour"
  | "day"
  | "week"
  | "yr"
  | "year";
type Unit = "ms" | "s" | "m" | "h" | "d" | "w" | "y" | `${Long}${"" | "s"}`;
type UnitAnyCase = Unit | Capitalize<Unit> | Uppercase<Unit>;

/**
 * A length of time: milliseconds, or a text as Temporal reads it, such as `"90 seconds"` or `"30 days"`. Temporal's own
 * type of it is `any` where modules are resolved as Node does. What comes from outside, such as the input of a run, may
 * be any text all the same.
 */
export type Duration =
  | `${number}`
  | `${number}${UnitAnyCase}`
  | `${number} ${UnitAnyCase}`
  | number;

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
