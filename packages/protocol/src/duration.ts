type Long =
  `${"msec" | "millisecond" | "sec" | "second" | "min" | "minute" | "hr" | "hour" | "day" | "week" | "yr" | "year"}${"" | "s"}`;
type Unit = "ms" | "s" | "m" | "h" | "d" | "w" | "y" | Long;
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
