/**
 * Word a point in time, in UTC: `2026-11-21 03:42:04 UTC`.
 *
 * @param at a date, a text that `Date` reads, or milliseconds since 1970.
 * @returns the time to the second.
 */
export const utc = (at: Date | number | string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
