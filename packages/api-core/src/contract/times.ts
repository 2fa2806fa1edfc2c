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

/** ISO 8601: date, hours and minutes, seconds, fraction, offset. A blank may stand for the `T`. */
const WRITTEN =
  /^(\d{4}-\d\d-\d\d)(?:[T\s](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;

/** Seconds or milliseconds since 1970. */
const COUNTED = /^(?:\d{10}|\d{13})$/;

const offsetOf = (written: string): number => {
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):?(\d\d)$/.exec(written) ?? [];
  return (Number(hours) * HOUR + Number(minutes) * MINUTE) * (sign === "-" ? -1 : 1);
};

/** How far the clocks of a zone are ahead of UTC, at most and at least, within a day of a time. */
const offsetsIn = (timeZone: string, local: number): ReadonlyArray<number> => {
  if (timeZone === "UTC") return [0];
  // The zones furthest behind and ahead.
  if (timeZone === "unknown") return [-12 * HOUR, 14 * HOUR];
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  return [local - DAY, local + DAY].map((at) => offsetOf(clock.format(at)));
};

/**
 * Reads a time in an answer as the instants that it may mean. A date may be any time of its day, a time without a
 * fraction any part of its second. A time without offset is in the zone of the assumption `timeZone`; if that is
 * unknown, in any zone.
 *
 * @param text ISO 8601, or seconds or milliseconds since 1970; undefined is not a time
 * @returns both ends of the span; undefined if the text cannot be read as a time
 */
export const readTime = (
  text: string | undefined,
  { timeZone }: Pick<Assumptions, "timeZone">,
): TimeSpan | undefined => {
  const given = text?.trim() ?? "";
  if (COUNTED.test(given)) {
    const unit = given.length === 10 ? SECOND : 1;
    return { earliest: Number(given) * unit, latest: (Number(given) + 1) * unit - 1 };
  }
  const [, date, minutes, seconds, fraction = "", offset] = WRITTEN.exec(given) ?? [];
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const local = Date.parse(`${date}T${minutes ?? "00:00"}:${seconds ?? "00"}.${milliseconds}Z`);
  // JavaScript takes the 30th of February for the 2nd of March.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(date ?? "-")) {
    return undefined;
  }
  const length =
    minutes === undefined ? DAY : seconds === undefined ? MINUTE : fraction === "" ? SECOND : 1;
  const offsets = offset === undefined ? offsetsIn(timeZone, local) : [offsetOf(offset)];
  return {
    earliest: local - Math.max(...offsets),
    latest: local - Math.min(...offsets) + length - 1,
  };
};

/** No payment is older: an earlier time stands for "not yet". */
const FIRST_PLAUSIBLE = Date.UTC(1971, 0, 1);

/**
 * Checks whether a text means a time that has not come: the zero time `0001-01-01T00:00:00Z`, another time before
 * 1971, or nothing but zeros and dashes.
 */
export const isUnsetTime = (given: string): boolean => {
  // Nearly every time in an answer begins like one of these.
  if (given.startsWith("20") && given[4] === "-") return false;
  if (given.startsWith("0001-01-01") || /^[-0:.TZ\s]*$/i.test(given)) return true;
  const span = readTime(given, { timeZone: "UTC" });
  return span !== undefined && span.latest < FIRST_PLAUSIBLE;
};
