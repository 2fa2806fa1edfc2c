/** A length of time: milliseconds, or a text as Temporal reads it, such as `"90 seconds"` or `"30 days"`. */
export type Duration = string | number;
