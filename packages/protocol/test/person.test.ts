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
    ["A|ice", "Alice"],
    ["A\u05C0ice", "ALICE"],
    ["A\u2223ice|", "alice"],
    ["Ada|", "Ada"],
    ["\u{10320}van", "Ivan"],
    ["\u{10301}ob", "Bob"],
    ["\u2C80da", "Ada"],
    ["\u2C82\u2C9E\u2C82", "bob"],
    ["\u13CFob", "Bob"],
    ["\u13CFOB", "bob"],
    ["\u13A5\u0410N", "Ian"],
    ["Ma\u00D7", "Max"],
    ["Ann\u212E", "Anne"],
    ["Agent \u0417", "Agent 3"],
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
    ["A|ice", "Bob"],
    ["A|ice", "Alan"],
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
