import { badUsage } from "../exit-codes.ts";

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads a point in time: a date (ISO 8601), or a length of time before now (`36h`, `7d`).
 *
 * @throws BadUsage where it is neither.
 */
export const readTime = (flag: string, text: string): Date => {
  const [, count, unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const ago = UNITS[unit];
  const time =
    ago === undefined
      ? new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN)
      : new Date(Date.now() - Number(count) * ago);
  if (!Number.isNaN(time.getTime())) return time;
  throw badUsage(`--${flag} must be a date such as 2026-11-23T12:00Z, or 36h, or 7d.`);
};
