import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, type Evidence, verdictOf } from "../../src/evidence/verdict.ts";

const candidate = (given: Partial<Candidate> = {}): Candidate => ({
  id: "p-1",
  result: { payout_id: "p-1" },
  shown: { payout_id: "p-1" },
  likeness: "exact",
  key: "none",
  isOwned: false,
  age: "recent",
  rival: "none",
  ...given,
});
const evidence = (given: Partial<Evidence> = {}): Evidence => ({
  candidates: [],
  unreadable: 0,
  fault: undefined,
  readAt: 1_000,
  listedFrom: 500,
  nextAt: 3_000,
  keysShown: "never",
  knowsOthers: true,
  unowned: [],
  ...given,
});
const one = (given: Partial<Candidate>, rest: Partial<Evidence> = {}) =>
  verdictOf(evidence({ candidates: [candidate(given)], ...rest }));

describe("a verdict", () => {
  it.each([
    ["the key of this step", one({ key: "own", likeness: "different" }), "found"],
    ["its key, before the lag is over", one({ key: "own" }, { listedFrom: 9_000 }), "found"],
    ["its key, in a list that does not add up", one({ key: "own" }, { fault: "cut" }), "found"],
    ["the key of another generation", one({ key: "otherGeneration" }), "unclear"],
    ["nothing", verdictOf(evidence()), "absent"],
    ["nothing, before the lag is over", verdictOf(evidence({ listedFrom: 9_000 })), "later"],
    ["nothing, in a list that does not add up", verdictOf(evidence({ fault: "cut" })), "later"],
    ["another write's", one({ isOwned: true }), "absent"],
    ["one that is older", one({ age: "older" }), "absent"],
    ["one that is equal, of unknown age", one({ age: "unknown" }), "unclear"],
    ["one that legibly differs", one({ likeness: "different" }), "absent"],
    ["one that is equal in every field", one({}), "found"],
    ["the same, before the lag is over", one({}, { listedFrom: 9_000 }), "later"],
    ["the same, under another key", one({ key: "other" }, { keysShown: "always" }), "absent"],
    [
      "the same without a key, where keys are always shown",
      one({}, { keysShown: "always" }),
      "unclear",
    ],
    ["the same, where keys may be shown", one({}, { keysShown: "unknown" }), "unclear"],
    ["the same, under a key that nobody knows", one({ key: "other" }), "unclear"],
    ["the same, under a key that may be ours", one({ key: "near" }), "unclear"],
    ["the same, where others may be unknown", one({}, { knowsOthers: false }), "unclear"],
    ["the same, with a rival that is being settled", one({ rival: "settling" }), "later"],
    ["the same, with a rival that is not", one({ rival: "open" }), "unclear"],
    ["one that is written in another way", one({ likeness: "near" }), "unclear"],
    ["one that differs in a field", one({ likeness: "similar" }), "unclear"],
    ["rows that cannot be read", verdictOf(evidence({ unreadable: 1 })), "unclear"],
  ])("of %s", (_what, verdict, is) => {
    expect(verdict.is).toBe(is);
  });

  it("of nothing says where a row without a key may be another request of the step", () => {
    const verdict = verdictOf(evidence({ unowned: [{ payout_id: "p" }] }));
    expect(verdict).toEqual({ is: "absent", others: [{ payout_id: "p" }] });
  });

  it("asks a person where two are listed that may be it", () => {
    const candidates = [candidate(), candidate({ id: "p-2" })];
    expect(verdictOf(evidence({ candidates })).is).toBe("unclear");
  });

  it("asks a person where two have the key", () => {
    const candidates = [candidate({ key: "own" }), candidate({ id: "p-2", key: "own" })];
    expect(verdictOf(evidence({ candidates })).is).toBe("unclear");
  });

  it("leaves out one that differs in a field beside one that is as it was sent", () => {
    const candidates = [candidate({ id: "p-2", likeness: "similar" }), candidate()];
    expect(verdictOf(evidence({ candidates }))).toMatchObject({ is: "found", id: "p-1" });
  });
});

const candidates = fc.array(
  fc.record({
    id: fc.constantFrom("a", "b", "c"),
    result: fc.constant({}),
    shown: fc.constant({}),
    likeness: fc.constantFrom("exact", "near", "similar", "different"),
    key: fc.constantFrom("own", "otherGeneration", "near", "other", "none"),
    isOwned: fc.boolean(),
    age: fc.constantFrom("older", "recent", "unknown"),
    rival: fc.constantFrom("none", "settling", "open"),
  } satisfies { [Field in keyof Candidate]: fc.Arbitrary<Candidate[Field]> }),
  { maxLength: 4 },
);
const anyEvidence = fc.record({
  candidates,
  unreadable: fc.nat(2),
  fault: fc.constantFrom(undefined, "cut"),
  readAt: fc.constant(1_000),
  listedFrom: fc.constantFrom(500, 9_000),
  nextAt: fc.constant(3_000),
  keysShown: fc.constantFrom("always", "never", "unknown"),
  knowsOthers: fc.boolean(),
  unowned: fc.constantFrom([], [{}]),
} satisfies { [Field in keyof Evidence]: fc.Arbitrary<Evidence[Field]> });

describe("every verdict", () => {
  it("is absent only of a whole list, read late enough, in which all is another's", () => {
    fc.assert(
      fc.property(anyEvidence, (given) => {
        if (verdictOf(given).is !== "absent") return;
        expect(given).toMatchObject({ fault: undefined, unreadable: 0, listedFrom: 500 });
        for (const { age, isOwned, key, likeness } of given.candidates) {
          expect(key).not.toBe("own");
          const isOthers =
            isOwned || age === "older" || (given.keysShown === "always" && key !== "none");
          expect(isOthers || (likeness === "different" && key !== "near")).toBe(true);
        }
      }),
    );
  });

  it("takes without a key only what nobody else can have made", () => {
    fc.assert(
      fc.property(anyEvidence, (given) => {
        const verdict = verdictOf(given);
        if (verdict.is !== "found" || verdict.by !== "likeness") return;
        const found = given.candidates.filter(
          ({ age, id, isOwned, likeness }) =>
            id === verdict.id && !isOwned && age === "recent" && likeness === "exact",
        );
        expect(found).toMatchObject([{ rival: "none" }]);
        expect(given).toMatchObject({ keysShown: "never", knowsOthers: true, listedFrom: 500 });
      }),
    );
  });
});
