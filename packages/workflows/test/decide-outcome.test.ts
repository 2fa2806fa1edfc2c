import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, type Evidence, decideOutcome } from "../src/steps/decide-outcome.ts";

const candidate: Candidate = {
  id: "a",
  isOurs: false,
  isExact: true,
  hasOtherKey: false,
  firstSeen: 0,
};

/** Long after everything that could be waited for. */
const evidence: Evidence = {
  candidates: [],
  concurrentRuns: [],
  unreadableRows: 0,
  keyEcho: "unknown",
  readAt: 1_000,
  sendEndsAt: 100,
  listLagMs: 200,
  visibilityLagMs: 50,
  longestDoubtMs: 300,
  earlierReads: [],
};

const outcomeOf = (changes: Partial<Evidence>) => decideOutcome({ ...evidence, ...changes })._tag;

describe("what is certainly ours", () => {
  const ours = { ...candidate, isOurs: true, isExact: false };

  it("is found at once, whatever else is listed", () => {
    expect(
      decideOutcome({
        ...evidence,
        readAt: 0,
        candidates: [candidate, { ...ours, id: "ours" }],
        concurrentRuns: ["run-2"],
        unreadableRows: 1,
        incomplete: "It is too long.",
      }),
    ).toEqual({ _tag: "Found", id: "ours" });
  });

  it("is left to a person where there are two", () => {
    expect(outcomeOf({ candidates: [ours, { ...ours, id: "b" }] })).toBe("Unclear");
  });
});

describe("absence", () => {
  it("is known only when the list shows whatever the send may have made", () => {
    expect(decideOutcome({ ...evidence, readAt: 299 })).toEqual({
      _tag: "Undecided",
      readAgainAt: 300,
    });
    expect(outcomeOf({ readAt: 300 })).toBe("Absent");
  });

  it("is known before where everything up to after the send is listed", () => {
    expect(outcomeOf({ readAt: 101, listedUpTo: 100 })).toBe("Undecided");
    expect(outcomeOf({ readAt: 101, listedUpTo: 101 })).toBe("Absent");
  });

  it("is known where others made all that is listed", () => {
    expect(outcomeOf({ candidates: [{ ...candidate, owner: "run-2" }] })).toBe("Absent");
  });

  it("is not known where a row cannot be read, or the list is no evidence", () => {
    expect(outcomeOf({ unreadableRows: 1 })).toBe("Unclear");
    expect(outcomeOf({ incomplete: "It is too long." })).toBe("Unclear");
  });
});

describe("one that was listed, and is not any more", () => {
  const missing = { ...candidate, isMissing: true };

  it.each([
    ["exact", missing],
    ["near", { ...missing, isExact: false }],
    ["with this step's key", { ...missing, isOurs: true }],
  ])("(%s) is left to a person", (_, given) => {
    const reconciliation = decideOutcome({ ...evidence, candidates: [given] });
    expect(reconciliation).toMatchObject({ _tag: "Unclear" });
    expect(reconciliation).toHaveProperty(
      "reason",
      expect.stringContaining("not listed as such any more"),
    );
    expect(outcomeOf({ candidates: [given], keyEcho: "same" })).toBe(
      given.isOurs ? "Unclear" : "Absent",
    );
  });

  it("is left to a person beside one that is listed", () => {
    expect(outcomeOf({ candidates: [missing, { ...candidate, id: "b" }] })).toBe("Unclear");
  });

  it("does not count where another made it", () => {
    expect(outcomeOf({ candidates: [{ ...missing, owner: "run-2" }] })).toBe("Absent");
    expect(outcomeOf({ candidates: [missing], readAt: 349 })).toBe("Undecided");
  });
});

describe("one that is as it was sent", () => {
  it("is ours when the list and the ownership of others have had their time", () => {
    expect(outcomeOf({ candidates: [candidate], readAt: 349 })).toBe("Undecided");
    expect(outcomeOf({ candidates: [candidate], readAt: 350 })).toBe("Found");
  });

  it("is ours only when it was itself listed for as long as ownership may be hidden", () => {
    const late = { ...candidate, firstSeen: 980 };
    expect(decideOutcome({ ...evidence, candidates: [late] })).toEqual({
      _tag: "Undecided",
      readAgainAt: 1_030,
    });
    expect(outcomeOf({ candidates: [late], readAt: 1_030 })).toBe("Found");
  });

  it("is left to a person where another may have made it", () => {
    expect(outcomeOf({ candidates: [candidate], concurrentRuns: ["run-2"] })).toBe("Unclear");
    expect(outcomeOf({ candidates: [candidate, { ...candidate, id: "b" }] })).toBe("Unclear");
  });

  it.each([
    ["unknown", "Unclear"],
    ["none", "Unclear"],
    ["other", "Found"],
    ["same", "Absent"],
  ] as const)("under another key, where keys are shown as %s: %s", (keyEcho, reconciliation) => {
    expect(outcomeOf({ candidates: [{ ...candidate, hasOtherKey: true }], keyEcho })).toBe(
      reconciliation,
    );
  });
});

it("is left to a person where it is written in another way than it was sent", () => {
  expect(outcomeOf({ candidates: [{ ...candidate, isExact: false }] })).toBe("Unclear");
});

describe("one that differs in one field from what was sent", () => {
  const similar = { ...candidate, isExact: false, differsInOne: true };

  it("is left to a person, once whoever else made it would have found out", () => {
    expect(
      decideOutcome({ ...evidence, candidates: [{ ...similar, firstSeen: 200 }], readAt: 549 }),
    ).toEqual({
      _tag: "Undecided",
      readAgainAt: 550,
    });
    const reconciliation = decideOutcome({
      ...evidence,
      candidates: [{ ...similar, firstSeen: 200 }],
    });
    expect(reconciliation).toMatchObject({ _tag: "Unclear" });
    expect(reconciliation).toHaveProperty("reason", expect.stringContaining("only one field"));
    expect(outcomeOf({ candidates: [{ ...similar, owner: "run-2" }], readAt: 300 })).toBe("Absent");
  });

  it("does not count beside one that is as it was sent, and does beside one that is not", () => {
    expect(
      decideOutcome({ ...evidence, candidates: [{ ...similar, id: "b" }, candidate] }),
    ).toEqual({
      _tag: "Found",
      id: "a",
    });
    // An exact one that somebody else made says nothing of ours.
    expect(outcomeOf({ candidates: [similar, { ...candidate, id: "b", owner: "run-2" }] })).toBe(
      "Unclear",
    );
    expect(outcomeOf({ candidates: [similar, { ...candidate, id: "b", isExact: false }] })).toBe(
      "Unclear",
    );
  });

  it("is not ours where a read showed all that the send may have made, and did not show it", () => {
    const earlierReads = [
      { readAt: 299, endedAt: 305 },
      { readAt: 310, endedAt: 320 },
    ];
    const of = (firstSeen: number) =>
      outcomeOf({ candidates: [{ ...similar, firstSeen }], earlierReads, readAt: 2_000 });
    expect(of(320)).toBe("Unclear");
    expect(of(321)).toBe("Absent");
    // One that differs in nothing is not left to such a read.
    expect(
      outcomeOf({
        candidates: [{ ...candidate, isExact: false, firstSeen: 321 }],
        earlierReads,
        readAt: 2_000,
      }),
    ).toBe("Unclear");
  });

  it("is left to a person where it is not listed any more", () => {
    expect(outcomeOf({ candidates: [{ ...similar, isMissing: true }] })).toBe("Unclear");
  });
});

it("a key that may be ours excludes nothing, where keys are known to be shown", () => {
  const given = { ...candidate, isExact: false, hasOtherKey: true };
  expect(outcomeOf({ candidates: [given], keyEcho: "same" })).toBe("Absent");
  expect(outcomeOf({ candidates: [{ ...given, mayBearKey: true }], keyEcho: "same" })).toBe(
    "Unclear",
  );
});

const candidates = fc.array(
  fc
    .record({
      id: fc.uuid(),
      isOurs: fc.boolean(),
      isExact: fc.boolean(),
      isMissing: fc.boolean(),
      differsInOne: fc.boolean(),
      hasOtherKey: fc.boolean(),
      mayBearKey: fc.boolean(),
      owner: fc.option(fc.constant("run-1"), { nil: undefined }),
      firstSeen: fc.nat({ max: 500 }),
    })
    // One field that is another is not as it was sent.
    .map((one) => ({ ...one, isExact: one.isExact && !one.differsInOne })),
  { maxLength: 3 },
);

const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  candidates,
  concurrentRuns: fc.array(fc.constant("run-2"), { maxLength: 1 }),
  unreadableRows: fc.nat({ max: 1 }),
  keyEcho: fc.constantFrom("same", "other", "none", "unknown"),
  readAt: fc.nat({ max: 600 }),
  sendEndsAt: fc.nat({ max: 200 }),
  listLagMs: fc.nat({ max: 200 }),
  listedUpTo: fc.option(fc.nat({ max: 300 }), { nil: undefined }),
  visibilityLagMs: fc.nat({ max: 100 }),
  longestDoubtMs: fc.nat({ max: 300 }),
  earlierReads: fc.array(
    fc.nat({ max: 500 }).map((at) => ({ readAt: at, endedAt: at + 5 })),
    { maxLength: 2 },
  ),
  incomplete: fc.option(fc.constant("too long"), { nil: undefined }),
});

/** Whether a reconciliation says no more than its evidence, by the rules as they are written down. */
const isJustified = (given: Evidence): boolean => {
  const reconciliation = decideOutcome(given);
  const { candidates, incomplete, keyEcho, listedUpTo = -1, readAt, sendEndsAt } = given;
  const listedBy = sendEndsAt + given.listLagMs;
  const decided = listedUpTo > sendEndsAt ? Math.min(listedUpTo, listedBy) : listedBy;
  const isEvidence =
    incomplete === undefined &&
    given.unreadableRows === 0 &&
    (readAt >= sendEndsAt + given.listLagMs || listedUpTo > sendEndsAt);
  const unowned = candidates.filter(({ owner }) => owner === undefined);
  switch (reconciliation._tag) {
    case "Absent":
      return (
        isEvidence &&
        candidates.every(({ isOurs }) => !isOurs) &&
        unowned.every(
          ({ differsInOne, firstSeen, mayBearKey }) =>
            (keyEcho === "same" && !mayBearKey) ||
            (differsInOne &&
              given.earlierReads.some(
                (read) => read.endedAt < firstSeen && read.readAt >= decided,
              )),
        )
      );
    case "Found": {
      const found = candidates.find(({ id }) => id === reconciliation.id);
      if (found === undefined) return false;
      if (found.isMissing === true) return false;
      if (found.isOurs) {
        return candidates.filter(({ isMissing, isOurs }) => isOurs && !isMissing).length === 1;
      }
      return (
        isEvidence &&
        unowned.filter(({ differsInOne, isOurs }) => isOurs || !differsInOne).length === 1 &&
        found.owner === undefined &&
        found.isExact &&
        (!found.hasOtherKey || keyEcho === "other") &&
        given.concurrentRuns.length === 0 &&
        readAt >= found.firstSeen + given.visibilityLagMs
      );
    }
    case "Undecided":
      return reconciliation.readAgainAt > readAt;
    case "Unclear":
      return reconciliation.reason !== "";
  }
};

it("never says absent while something may be ours, nor found while it may be another's", () => {
  fc.assert(
    fc.property(anyEvidence, (given) => {
      expect(isJustified(given)).toBe(true);
    }),
    { numRuns: 20_000 },
  );
});

it("ends: what is undecided is decided at the time that it names", () => {
  const readsFor = (given: Evidence): number => {
    const reconciliation = decideOutcome(given);
    return reconciliation._tag === "Undecided"
      ? 1 + readsFor({ ...given, readAt: reconciliation.readAgainAt })
      : 1;
  };
  fc.assert(
    fc.property(anyEvidence, (given) => {
      expect(readsFor(given)).toBeLessThanOrEqual(3);
    }),
    { numRuns: 5_000 },
  );
});
