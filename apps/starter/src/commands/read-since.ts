import { msOptionalToNumber } from "@temporalio/common/lib/time.js";
import { badUsage } from "../exit-codes.ts";

const ISO_DATE = /^\d{4}-\d\d-\d\d/;

const earliest = (since: string, now: number): number | undefined => {
  if (ISO_DATE.test(since)) return Date.parse(since);
  try {
    // The library knows the texts that it takes only by their type.
    const age = msOptionalToNumber(since as Parameters<typeof msOptionalToNumber>[0]);
    return age === undefined ? undefined : now - age;
  } catch {
    return undefined;
  }
};

/**
 * Reads from when on runs are wanted: an age (`7d`, `12 hours`), or an ISO 8601 date or time.
 *
 * @returns milliseconds since 1970.
 * @throws BadUsage where it is neither.
 */
export const readSince = (since: string, now = Date.now()): number => {
  const at = earliest(since, now);
  if (at === undefined || Number.isNaN(at) || at > now) {
    throw badUsage(
      `--since must be an age such as 7d or 12h, or a date that is past such as 2026-11-01; it is ${JSON.stringify(since)}.`,
    );
  }
  return at;
};
