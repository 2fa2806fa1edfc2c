import { describe, expect, it } from "vitest";
import { isSamePerson, nameProblem, reasonProblem } from "../../src/model/person.ts";

describe("the name of a person", () => {
  it.each([
    ["Ada\u034F", "Ada"],
    ["A\uFE0Fda", "Ada"],
    ["Ada\u180B", "Ada"],
    ["Ada\u17B4", "Ada"],
    ["Ada\u115F", "Ada"],
    ["Ada\u3164", "Ada"],
    ["Ada\u2800", "Ada"],
    ["A\u200Bda", "Ada"],
    ["Jose\u200D\u0301", "José"],
    ["WEISS", "Weiß"],
    ["İnci", "Inci"],
    ["AdaLove", "Ada Love"],
    ["Ada\u0332", "Ada"],
    ["Ada.", "Ada"],
    ["ＡＤＡ", "Ada"],
    ["ΣΟΦΟΣ", "Σοφός"],
    ["ΕΛΕΝΗ", "Ελένη"],
    ["ВОВА", "Вова"],
    // Look-alikes of other scripts (Unicode TR39).
    ["асе", "ace"],
    ["СОРЕ", "Cope"],
    ["ΝΙΚΟΖ", "Nikoz"],
    ["օսհ", "ouh"],
    ["ᴀda", "Ada"],
    ["ɡrace", "grace"],
    // With the letters of another keyboard.
    ["Juergen Mueller", "Jürgen Müller"],
    ["JUERGEN MUELLER", "Ju\u034F\u0308rgen Müller"],
    ["Soeren", "Søren"],
    ["Soren", "Søren"],
    ["Lukasz", "Łukasz"],
    ["Aegir", "Ægir"],
    // Letters that one font draws alike.
    ["lan", "Ian"],
    ["Al", "A1"],
    ["J0e", "JOe"],
    ["Arnold", "Amold"],
  ])("%j is that of %j", (disguised, name) => {
    expect(isSamePerson(disguised, name)).toBe(true);
    expect(isSamePerson(name, disguised)).toBe(true);
  });

  it.each([
    ["Ada", "Adam"],
    ["Ada 1", "Ada 2"],
    ["Ian", "Lan"],
    ["Иван", "Игорь"],
    ["Νίκος", "Νίκη"],
    ["李", "王"],
    ["@", "#"],
    ["Ian Lee", "An Lee"],
    ["Рита", "Puma"],
    ["Παύλος", "Пётр"],
  ])("%j is not that of %j", (one, other) => {
    expect(isSamePerson(one, other)).toBe(false);
  });

  it.each(["", " ", "\u200B", "\u3164", "\u2800", "\u115F\u1160", "\u0332"])(
    "is not %j, which shows nothing",
    (name) => {
      expect(nameProblem(name)).toBe("must not be empty");
    },
  );

  it.each([5, true, {}, ["Ada"]])("is not %j, which is no text", (name) => {
    expect(nameProblem(name)).toBe("must be a text");
    expect(reasonProblem(name)).toBe("must be a text");
  });

  it.each([
    "Ada",
    "李",
    "@ada",
    "🙂",
    "Åsa Ørsted",
    "Владимир",
    "Ελένη",
    "たなかカイ (Kai)",
    "สมชาย 2",
    "Nʼdiaye",
  ])("can be %j", (name) => {
    expect(nameProblem(name)).toBeUndefined();
  });

  it.each([
    ["Grаce", "must not mix Latin and Cyrillic letters"],
    ["Αda", "must not mix Latin and Greek letters"],
    ["Аνα", "must not mix Cyrillic and Greek letters"],
    ["գrace", "must not mix Latin and Armenian letters"],
    ["ꓮꓓꓮ", "must have letters of a script in general use only"],
    ["ᎪᎠᎪ", "must have letters of a script in general use only"],
  ])("is not %j: it %s", (name, problem) => {
    expect(nameProblem(name)).toBe(problem);
  });
});
