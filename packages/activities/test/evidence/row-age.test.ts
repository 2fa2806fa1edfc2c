import { defaultAssumptions } from "@durable-payments/client/effect";
import { describe, expect, it } from "vitest";
import { agesBy, horizonOf, type KnownRow, type SentWithin } from "../../src/evidence/row-age.ts";
import { type Candidate, verdictOf } from "../../src/evidence/verdict.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SENT = Date.parse("2026-11-21T12:00:00Z");
const MOST_MS = 41_000;
const SENT_WITHIN = { from: SENT, until: SENT + MOST_MS };
const isoOf = (time: number) => new Date(time).toISOString();

/** Three results of a service whose clock is ahead, one an hour, up to an hour before the send. */
const knownOf = (ahead: number): ReadonlyArray<KnownRow> =>
  [3, 2, 1].map((hours) => ({
    created: isoOf(SENT - hours * HOUR + ahead),
    createdAt: SENT - hours * HOUR,
    from: SENT - hours * HOUR,
    recordedAt: SENT - hours * HOUR + 1_000,
  }));

describe("the age of a row", () => {
  const HALF_DAYS = [-2, -1, 0, 1, 2].map((half) => (half * DAY) / 2);
  it.each(HALF_DAYS)("does not depend on how far the service's clock is ahead: %i ms", (ahead) => {
    const ageOf = agesBy(SENT_WITHIN, knownOf(ahead), defaultAssumptions);
    const at = (time: number) => ageOf(isoOf(SENT + time + ahead));
    expect(at(0)).toBe("recent");
    expect(at(-2 * MINUTE)).toBe("recent");
    expect(at(MOST_MS + 17 * MINUTE)).toBe("recent");
    expect(at(MOST_MS + 18 * MINUTE)).toBe("unknown");
    expect(at(-3 * MINUTE)).toBe("unknown");
    expect(at(-DAY)).toBe("unknown");
    expect(at(-DAY - 6 * HOUR)).toBe("older");
  });

  it("is unknown without results, and never older with two", () => {
    const longAgo = isoOf(SENT - 30 * DAY);
    const none = agesBy(SENT_WITHIN, [], defaultAssumptions);
    expect([none(isoOf(SENT)), none(longAgo)]).toEqual(["unknown", "unknown"]);
    const two = agesBy(SENT_WITHIN, knownOf(0).slice(1), defaultAssumptions);
    expect([two(isoOf(SENT)), two(longAgo)]).toEqual(["recent", "unknown"]);
  });

  it("is unknown if the first send is, and for what is no time", () => {
    const known = knownOf(0);
    expect(
      agesBy({ from: null, until: null }, known, defaultAssumptions)(isoOf(SENT - 30 * DAY)),
    ).toBe("unknown");
    const ageOf = agesBy(SENT_WITHIN, known, defaultAssumptions);
    expect([undefined, null, 7, "", "soon"].map(ageOf)).toEqual(Array(5).fill("unknown"));
  });

  it("is known for times without an offset, and for days", () => {
    const known = knownOf(8 * HOUR);
    const bare = (text: unknown) => String(text).slice(0, 19);
    const inZone = known.map((row) => ({ ...row, created: bare(row.created) }));
    const ageOf = agesBy(SENT_WITHIN, inZone, defaultAssumptions);
    expect(ageOf("2026-11-21T20:00:00")).toBe("recent");
    expect(ageOf("2026-11-21T12:00:00")).toBe("unknown");
    expect(ageOf("2026-11-20T12:00:00")).toBe("older");
    const days = known.map((row) => ({ ...row, created: bare(row.created).slice(0, 10) }));
    const ageOfDay = agesBy(SENT_WITHIN, days, defaultAssumptions);
    // Something that was made on the same day may have been made before.
    expect(ageOfDay("2026-11-21")).toBe("unknown");
    expect(ageOfDay("2026-11-23")).toBe("unknown");
    expect(ageOfDay("2026-11-18")).toBe("older");
  });
});

describe("a row that was created an hour before the send", () => {
  const HOUR_BEFORE = isoOf(SENT - HOUR);
  const recordedLate = (from: (created: number) => number | null): ReadonlyArray<KnownRow> =>
    [4, 3, 2].map((hours) => ({
      created: isoOf(SENT - hours * HOUR),
      createdAt: SENT - hours * HOUR,
      from: from(SENT - hours * HOUR),
      recordedAt: SENT - 10 * MINUTE,
    }));
  const ages = (known: ReadonlyArray<KnownRow>) =>
    [HOUR_BEFORE, isoOf(SENT)].map(agesBy(SENT_WITHIN, known, defaultAssumptions));

  it("is not recent, though all results were recorded after it: ours is", () => {
    expect(ages(recordedLate((created) => created))).toEqual(["unknown", "recent"]);
  });

  it("nor is ours, if all results were sent again hours after their first send, or nobody knows it", () => {
    expect(ages(recordedLate((created) => created - HOUR))).toEqual(["unknown", "unknown"]);
    expect(ages(recordedLate(() => null))).toEqual(["unknown", "unknown"]);
  });

  it("is told from ours by results from before an outage, however many were sent again in it", () => {
    const again = Array.from({ length: 50 }, () => recordedLate((created) => created - HOUR));
    const before = knownOf(0).map((row) => ({ ...row, createdAt: row.createdAt - 9 * HOUR }));
    expect(ages([...before, ...again.flat()])).toEqual(["unknown", "recent"]);
  });
});

describe("the horizon of a send", () => {
  const after = (ahead: number, hours: ReadonlyArray<number> = [1, 2, 3]) =>
    hours.map((hour) => ({
      created: isoOf(SENT + hour * HOUR + ahead),
      createdAt: SENT + hour * HOUR,
      from: SENT + hour * HOUR,
      recordedAt: SENT + hour * HOUR + 1_000,
    }));
  const horizon = (known: ReadonlyArray<KnownRow>, sent: SentWithin = SENT_WITHIN) =>
    horizonOf(sent, known, defaultAssumptions) - SENT;
  const SKEW = 15 * MINUTE;

  it("lies a day before three results that were recorded before it", () => {
    expect(horizon(knownOf(0))).toBe(-3 * HOUR - 26 * HOUR - SKEW);
    expect(horizon(knownOf(0).slice(1))).toBe(-Infinity);
    expect(horizon(knownOf(0), { from: null, until: null })).toBe(-Infinity);
  });

  it("needs no day if three results were called for after it", () => {
    expect(horizon([...knownOf(DAY), ...after(DAY)])).toBe(-3 * HOUR + DAY - SKEW);
    expect(horizon([...knownOf(0), ...after(0, [1, 2])])).toBe(-29 * HOUR - SKEW);
  });

  it("follows a clock that was set back in between", () => {
    expect(horizon([...knownOf(0), ...after(-5 * HOUR)])).toBe(-5 * HOUR - 1_000 - SKEW);
  });

  it.each([null, 0])("takes no result for a later one if its end is unknown: %s", (until) => {
    expect(horizon([...knownOf(0), ...after(0)], { from: SENT, until })).toBe(-29 * HOUR - SKEW);
  });
});

/**
 * Everything that may happen to an account, each an hour after the last: another payout of the ledger, one that lists a
 * wrong time, an equal payment by hand, days without anything, and the service's clock set back or ahead.
 */
const EVENTS = [
  "pays",
  "pays, listed wrong",
  "pays by hand",
  "days pass",
  "hour back",
  "day back",
  "day ahead",
] as const;
/** Payouts that the ledger has recorded hours late, that were sent twice, or whose writes are newer than they are. */
const RECORDED = [
  "pays",
  "pays, recorded late",
  "pays, sent twice",
  "pays, restored",
  "pays by hand",
  "days pass",
] as const;
type Event = (typeof EVENTS)[number] | (typeof RECORDED)[number];
const MOST: Partial<Record<Event, number>> = {
  "pays, listed wrong": 1,
  "hour back": 2,
  "day back": 1,
};
const CLOCK: Partial<Record<Event, number>> = {
  "hour back": -HOUR,
  "day back": -DAY,
  "day ahead": DAY,
};

const historiesOf = (
  events: ReadonlyArray<Event>,
  length: number,
): ReadonlyArray<ReadonlyArray<Event>> =>
  length === 0
    ? [[]]
    : historiesOf(events, length - 1).flatMap((history) =>
        events
          .filter(
            (event) => history.filter((one) => one === event).length < (MOST[event] ?? length),
          )
          .map((event) => [...history, event]),
      );
const BEFORE = [0, 1, 2, 3, 4].flatMap((length) => [
  ...historiesOf(EVENTS, length),
  ...historiesOf(RECORDED, length),
]);
const AFTER: ReadonlyArray<ReadonlyArray<Event>> = [
  [],
  ["pays"],
  ["pays", "pays", "pays"],
  ["days pass", "pays", "pays", "pays"],
  // The clock is set once between a result before the send and one after it: then it shows.
  ["hour back", "pays", "pays", "pays"],
  ["day back", "pays, listed wrong", "pays", "pays"],
  ["day back", "pays", "days pass", "pays", "pays"],
  ["pays", "hour back", "pays", "pays", "pays"],
  // It was wrong for some hours, and has been right for as many when the list can be read at last.
  ["pays", "pays", "pays", "day ahead", "pays", "pays", "pays"],
];

/** The verdict about a send, made or lost on its way, after what happened before and after it. */
const verdictAfter = (
  before: ReadonlyArray<Event>,
  after: ReadonlyArray<Event>,
  isMade: boolean,
  ahead: number,
  ages: typeof agesBy,
) => {
  let now = SENT;
  let offset = ahead;
  const known: Array<KnownRow> = [];
  const alike: Array<{ readonly id: string; readonly created: string }> = [];
  const happens = (event: Event) => {
    now += event === "days pass" ? 5 * DAY : HOUR;
    offset += CLOCK[event] ?? 0;
    const created = isoOf(now + offset + (event === "pays, listed wrong" ? 9 * DAY : 0));
    if (event.startsWith("pays by hand")) alike.push({ id: "hand", created });
    else if (event.startsWith("pays"))
      known.push({
        created,
        createdAt: now + (event === "pays, restored" ? 1.5 * HOUR : 0),
        from:
          event === "pays, restored" ? null : now - (event === "pays, sent twice" ? 5 * HOUR : 0),
        recordedAt: now + (/late|restored/.test(event) ? 3 * HOUR : 1_000),
      });
  };
  before.forEach(happens);
  now += HOUR;
  const sentAt = now;
  if (isMade) alike.push({ id: "ours", created: isoOf(now + offset) });
  after.forEach(happens);
  const within = { from: sentAt, until: sentAt + MOST_MS };
  const ageOf = ages(within, known, defaultAssumptions);
  const candidates = alike.map(({ created, id }): Candidate => ({
    id,
    key: "none",
    likeness: "exact",
    result: {},
    shown: {},
    isOwned: false,
    age: ageOf(created),
    rival: "none",
  }));
  return verdictOf({
    candidates,
    unreadable: 0,
    fault: undefined,
    readAt: 1,
    listedFrom: 0,
    nextAt: 1,
    keysShown: "never",
    knowsOthers: true,
    unowned: [],
  });
};

/** The first history after which the verdict is wrong. */
const wrongAfter = (ages: typeof agesBy): string | undefined => {
  for (const before of BEFORE)
    for (const after of AFTER)
      for (const ahead of [-DAY, 0, DAY])
        for (const isMade of [true, false]) {
          const verdict = verdictAfter(before, after, isMade, ahead, ages);
          // A clock that was set ahead since the last result does not show it.
          const last = before.findLastIndex((event) => /^pays(?! by hand)/.test(event));
          const isShown = !before.slice(last + 1).includes("day ahead");
          const isWrong = isMade
            ? verdict.is === "absent" || (verdict.is === "found" && verdict.id !== "ours")
            : isShown && verdict.is === "found";
          if (isWrong)
            return `${verdict.is} after ${[...before, isMade ? "made" : "lost", ...after].join(", ")}`;
        }
  return undefined;
};

describe("a verdict by age", () => {
  it("neither sends again what was made, nor takes a payment by hand for it", () => {
    expect(wrongAfter(agesBy)).toBeUndefined();
  });

  it("proves that a payment by hand was made before, if three results were recorded since", () => {
    const before: ReadonlyArray<Event> = ["pays by hand", "days pass", "pays", "pays", "pays"];
    for (const ahead of [-DAY, 0, DAY]) {
      expect(verdictAfter(before, [], false, ahead, agesBy)).toEqual({ is: "absent" });
      expect(verdictAfter(before, [], true, ahead, agesBy)).toMatchObject({
        is: "found",
        id: "ours",
      });
    }
  });

  const timeOf = ({ created }: KnownRow) => Date.parse(String(created));
  it.each<[string, typeof agesBy]>([
    [
      "compares times of two clocks",
      ({ from }) =>
        (created) =>
          Date.parse(String(created)) < (from ?? 0) - 15 * MINUTE ? "older" : "recent",
    ],
    [
      "counts results that were called for before the send had ended as later ones",
      (sent, known, given) =>
        agesBy(
          sent,
          known.map((row) => ({ ...row, createdAt: Number.MAX_SAFE_INTEGER })),
          given,
        ),
    ],
    [
      "takes the time of a record for that of the creation",
      (sent, known, given) =>
        agesBy(
          sent,
          known.map((row) => ({ ...row, from: row.recordedAt })),
          given,
        ),
    ],
    [
      "takes the time of a row of the ledger for that of its first send",
      (sent, known, given) =>
        agesBy(
          sent,
          known.map((row) => ({ ...row, from: row.createdAt })),
          given,
        ),
    ],
    [
      "counts results that were recorded after the send",
      (sent, known, given) =>
        agesBy(
          sent,
          known.map((row) => ({ ...row, recordedAt: 0 })),
          given,
        ),
    ],
    [
      "believes the newest of three times",
      (sent, known, given) => {
        const last = known.slice(-3);
        const newest = last.toSorted((one, other) => timeOf(other) - timeOf(one))[0];
        return agesBy(
          sent,
          last.flatMap((row) => (newest ? [{ ...row, created: newest.created }] : [])),
          given,
        );
      },
    ],
    [
      "takes no clock to be set back",
      (sent, known, given) =>
        agesBy(
          sent,
          known.map((row) => ({ ...row, created: isoOf(timeOf(row) + 26 * HOUR) })),
          given,
        ),
    ],
    [
      "takes for recent what is not proved to be older",
      (...given) => {
        const ageOf = agesBy(...given);
        return (created) => (ageOf(created) === "older" ? "older" : "recent");
      },
    ],
  ])("would be wrong by a rule that %s", (_rule, ages) => {
    expect(wrongAfter(ages)).toBeDefined();
  });
});
