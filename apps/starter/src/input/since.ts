import { msOptionalToNumber } from "@temporalio/common/lib/time.js";
import { badUsage } from "../exit-codes.ts";

const millisecondsOf = (text: string): number => {
  if (/^\d{4}-\d\d-\d\d/.test(text)) return Date.parse(text);
  try {
    // The library knows the texts that it takes only by their type.
    const age = msOptionalToNumber(text as Parameters<typeof msOptionalToNumber>[0]);
    return Date.now() - (age ?? Number.NaN);
  } catch {
    return Number.NaN;
  }
};

/**
 * Reads a time that is past: an age (`7d`, `12 hours`), or an ISO 8601 date or time.
 *
 * @throws BadUsage where it is neither.
 */
export const readTime = (flag: string, text: string): Date => {
  const at = millisecondsOf(text);
  if (at <= Date.now()) return new Date(at);
  throw badUsage(
    `--${flag} must be an age such as 7d or 12h, or a date that is past such as 2026-11-01; it is ${JSON.stringify(text)}.`,
  );
};
