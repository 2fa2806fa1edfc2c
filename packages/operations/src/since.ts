import { invalidInput } from "./errors.ts";

/**
 * Check a time since which something is wanted: a date that could not be read is a `Date` all the same.
 *
 * @throws InvalidInput where it is no time.
 */
export const checkSince = (since: Date): void => {
  // A caller without types can give anything.
  const given: unknown = since;
  if (given instanceof Date && !Number.isNaN(given.getTime())) return;
  throw invalidInput("The time (since) must be a valid Date. Nothing was done.");
};
