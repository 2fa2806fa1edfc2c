import type { Assumptions } from "./assumptions.ts";

/** The instants that a written time may mean, both ends included, in milliseconds since 1970. */
export interface TimeSpan {
  /** The first of them. */
  readonly earliest: number;
  /** The last of them. */
  readonly latest: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Year, month, day, hour, minute, second, fraction, zone: `T` or blanks between date and time. */
const WRITTEN =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:(?:t|\s+)(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?\s*(z|utc|gmt|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?$/i;

/** As HTTP and mail write it: `Sat, 21 Nov 2026 10:00:00 GMT`. */
const HTTP_DATE = /^[a-z]{3}, \d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d (gmt|utc|[+-]\d{4})$/i;

/** Seconds, milliseconds, microseconds or nanoseconds since 1970: 10, 13, 16 or 19 digits. */
const COUNTED = /^\d{10}(?:\.\d+)?$|^\d{13}$|^\d{16}$|^\d{19}$/;

const counted = (text: string): TimeSpan => {
  const [whole = "", fraction] = text.split(".");
  const at = Math.trunc(Number(text) / 10 ** (whole.length - 13));
  return { earliest: at, latest: whole.length > 10 || fraction !== undefined ? at : at + 999 };
};

/** Milliseconds since 1970 as if the parts were UTC's; undefined for a date or time that is none. */
const asUtc = (parts: ReadonlyArray<number>): number | undefined => {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millisecond = 0] = parts;
  const date = new Date(0);
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isDate || hour > 24 || minute > 59 || second > 60) return undefined;
  return date.getTime() + hour * HOUR + minute * MINUTE + second * SECOND + millisecond;
};

const offsetOf = (zone: string): number => {
  const [, sign, hours, minutes = "0", seconds = "0"] =
    /^([+-])(\d\d):?(\d\d)?:?(\d\d)?$/.exec(zone) ?? [];
  if (hours === undefined) return 0;
  const offset = Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND;
  return sign === "-" ? -offset : offset;
};

/** Zones whose clocks are furthest ahead of UTC, and furthest behind. */
const FURTHEST_AHEAD = 14 * HOUR;
const FURTHEST_BEHIND = -12 * HOUR;

const clocks = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC at an instant. */
const offsetAt = (instant: number, zone: string): number => {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    clocks.set(zone, clock);
  }
  const named = clock.formatToParts(instant).find(({ type }) => type === "timeZoneName");
  return offsetOf((named?.value ?? "").replace("GMT", ""));
};

/**
 * A zone's local time as instants: where the clocks are changed within a day of it, both readings
 * are possible; where the zone is unknown, those of every zone.
 */
const inZone = (local: number, length: number, zone: string): TimeSpan => {
  const offsets =
    zone === "unknown"
      ? [FURTHEST_BEHIND, FURTHEST_AHEAD]
      : [offsetAt(local - DAY, zone), offsetAt(local + DAY, zone)];
  return {
    earliest: local - Math.max(...offsets),
    latest: local - Math.min(...offsets) + length - 1,
  };
};

const read = (given: string, zone: string): TimeSpan | undefined => {
  const text = given.trim();
  if (COUNTED.test(text)) return counted(text);
  if (HTTP_DATE.test(text)) {
    const at = Date.parse(text);
    return Number.isNaN(at) ? undefined : { earliest: at, latest: at + SECOND - 1 };
  }
  const written = WRITTEN.exec(text);
  if (written === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, offset] = written;
  const local = asUtc([
    ...[year, month, day, hour ?? 0, minute ?? 0, second ?? 0].map(Number),
    Number((fraction ?? "").slice(0, 3).padEnd(3, "0")),
  ]);
  if (local === undefined) return undefined;
  // What is not written is not known: a date may be any time of its day.
  const length =
    hour === undefined ? DAY : second === undefined ? MINUTE : fraction === undefined ? SECOND : 1;
  if (offset === undefined) return inZone(local, length, zone);
  const earliest = local - offsetOf(offset);
  return { earliest, latest: earliest + length - 1 };
};

/**
 * Read a time in a response as the instants that it may mean, in milliseconds since 1970. A date may be any time
 * of its day, a time without fraction any part of its second. A time without offset is read in the
 * zone of the assumption `timeZone`: while that is unknown, in every zone. Seconds to nanoseconds since 1970 are read by their number of
 * digits.
 *
 * @param text in any notation; undefined is no time
 * @returns both ends of the span; undefined where the text cannot be read as a time.
 */
export const readTime = (
  text: string | undefined,
  { timeZone }: Pick<Assumptions, "timeZone">,
): TimeSpan | undefined => (text === undefined ? undefined : read(text, timeZone));

/** No payment is older than this: what is written before it stands for "not yet". */
const FIRST_PLAUSIBLE = Date.UTC(1971, 0, 1);

/**
 * Check whether a text means a time that has not come: empty, zeros and dashes only, a number of
 * seconds before 1971, or an instant before 1971 in any notation (`0001-01-01T00:00:00Z`,
 * `0000-12-31T19:03:58-04:56`, `1970-01-01`).
 */
export const isUnsetTime = (given: string): boolean => {
  // Nearly every time of an answer is one of these, and this is asked of each.
  if (given.startsWith("20") && given[4] === "-") return false;
  if (given.startsWith("0001-")) return true;
  const text = given.trim();
  if (/^[-0:/.,\stz+]*$/i.test(text) || /^-\d+(\.\d+)?$/.test(text)) return true;
  const span = read(text, "UTC");
  return span !== undefined && span.latest < FIRST_PLAUSIBLE;
};
