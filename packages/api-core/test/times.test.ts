import { describe, expect, it } from "vitest";
import { isUnsetTime, readTime } from "../src/effect.ts";

const utc = { timeZone: "UTC" };
const at = (text: string) => Date.parse(text);
const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

describe("a time in an answer", () => {
  it.each([
    ["2026-11-21T10:00:00.123Z", "2026-11-21T10:00:00.123Z"],
    ["2026-11-21T10:00:00.123456789Z", "2026-11-21T10:00:00.123Z"],
    ["2026-11-21t10:00:00.5z", "2026-11-21T10:00:00.500Z"],
    ["2026-11-21 18:00:00.000 +08:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T05:30:00.000-0430", "2026-11-21T10:00:00.000Z"],
    [" 1795255200000 ", "2026-11-21T10:00:00.000Z"],
    ["0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"],
  ])("%s is one instant", (text, instant) => {
    expect(readTime(text, utc)).toStrictEqual({ earliest: at(instant), latest: at(instant) });
  });

  it.each([
    ["2026-11-21T10:00:00Z", SECOND],
    ["1795255200", SECOND],
    ["2026-11-21T10:00Z", 60 * SECOND],
  ])("%s may be any part of what it does not say", (text, length) => {
    const earliest = at("2026-11-21T10:00:00Z");
    expect(readTime(text, utc)).toStrictEqual({ earliest, latest: earliest + length - 1 });
  });

  it("without offset is read in the zone that is assumed, not in this machine's", () => {
    const text = "2026-11-21T10:00:00.000";
    for (const [timeZone, instant] of [
      ["UTC", "2026-11-21T10:00:00Z"],
      ["Asia/Singapore", "2026-11-21T02:00:00Z"],
      ["+05:30", "2026-11-21T04:30:00Z"],
      ["America/New_York", "2026-11-21T15:00:00Z"],
    ] as const) {
      const span = { earliest: at(instant), latest: at(instant) };
      expect(readTime(text, { timeZone })).toStrictEqual(span);
    }
    // A date is a day of that zone.
    const earliest = at("2026-11-20T16:00:00Z");
    expect(readTime("2026-11-21T10:00:00", { timeZone: "unknown" })).toStrictEqual({
      earliest: at("2026-11-21T10:00:00+14:00"),
      latest: at("2026-11-21T10:00:00-12:00") + 999,
    });
    expect(readTime("2026-11-21", { timeZone: "unknown" })).toStrictEqual({
      earliest: at("2026-11-21T00:00:00+14:00"),
      latest: at("2026-11-22T00:00:00-12:00") - 1,
    });
    const exact = at("2026-11-21T10:00:00Z");
    expect(readTime("2026-11-21T10:00:00.000Z", { timeZone: "unknown" })).toStrictEqual({
      earliest: exact,
      latest: exact,
    });
    expect(readTime("2026-11-21", { timeZone: "Asia/Singapore" })).toStrictEqual({
      earliest,
      latest: earliest + DAY - 1,
    });
  });

  it("without offset may be either of two where the clocks are put back", () => {
    expect(readTime("2026-11-01T01:30:00.000", { timeZone: "America/New_York" })).toStrictEqual({
      earliest: at("2026-11-01T05:30:00Z"),
      latest: at("2026-11-01T06:30:00Z"),
    });
  });

  it.each([
    undefined,
    "",
    "soon",
    "-",
    "0",
    "21/11/2026",
    "11/21/2026 10:00:00",
    "2026-02-30T00:00:00Z",
    "2026-13-01",
    "2026-11-21T25:00:00Z",
    "2026-11-21T10:61:00Z",
    "20261121",
    "1795255",
    "NaN",
  ])("%j cannot be read", (text) => {
    expect(readTime(text, utc)).toBeUndefined();
  });
});

describe("an unset time", () => {
  it.each([
    "",
    " ",
    "-",
    "0",
    "0000-00-00",
    "0000-00-00 00:00:00",
    "0000-00-00T00:00:00Z",
    "0001-01-01",
    "0001-01-01T00:00:00Z",
    "0001-01-01 00:00:00",
    "0001-01-01T00:00:00.000+00:00",
    "0000-12-31T19:03:58-04:56",
    "1970-01-01T00:00:00Z",
    "1970-01-01",
    "1969-12-31T19:00:00-05:00",
    "1970-01-01 08:00:00",
    "0000000000",
  ])("%j is recognised", (text) => {
    expect(isUnsetTime(text)).toBe(true);
  });

  it.each([
    "2026-11-21T10:00:00Z",
    "2026-11-21",
    "1795255200",
    "1795255200000",
    "2001-01-01",
    "soon",
    "21/11/2026",
    "T",
  ])("%j is none", (text) => {
    expect(isUnsetTime(text)).toBe(text === "T");
  });
});
