import { describe, expect, it } from "vitest";
import { isSamePerson, namesSomebody } from "../src/person.ts";

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
    ["\u0410nna", "Anna"],
    ["\u0430\u043D\u043D\u0430", "ahha"],
    ["Ev\u0430", "EVA"],
    ["I\u03BDan", "Ivan"],
    ["\u041D\u0435l\u0435n", "HELEN"],
    ["AIice", "Alice"],
    ["A1ice", "Alice"],
    ["B0b", "Bob"],
    ["Carnelia", "Camelia"],
    ["\u{1D400}nna", "Anna"],
    ["\uFF21\u0301nna", "\u0391nna"],
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
  ])("%j is not that of %j", (one, other) => {
    expect(isSamePerson(one, other)).toBe(false);
  });

  it.each(["", " ", "\u200B", "\u3164", "\u2800", "\u115F\u1160", "\u0332"])(
    "is not %j, which shows nothing",
    (name) => {
      expect(namesSomebody(name)).toBe(false);
    },
  );

  it.each(["Ada", "李", "@ada", "🙂"])("can be %j", (name) => {
    expect(namesSomebody(name)).toBe(true);
  });
});
