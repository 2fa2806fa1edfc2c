import { describe, expect, it } from "vitest";
import { readVersionPlan, untoldChange, type VersionPlan } from "../src/release/surface-changes.ts";

describe("a version plan", () => {
  it.each([
    ["---\n__default__: minor\n---\n\nMore.\n", { bump: "minor", isCompatible: false }],
    [
      "---\n'@durable-payments/journal': 'major'\n---\n\nCompatible: wider.\n",
      { bump: "major", isCompatible: true },
    ],
    ["---\n---\n\nminor: no bump\n", undefined],
    ["No header: minor\n", undefined],
  ])("%j", (text, plan) => {
    expect(readVersionPlan(text)).toEqual(plan);
  });
});

describe("a change of a report", () => {
  const plan = (bump: VersionPlan["bump"], isCompatible = false): VersionPlan => ({
    bump,
    isCompatible,
  });
  const released = "a: string\nb: string\n";
  const same = { released, current: released };
  const more = { released, current: "a: string\nb: string\nc: string\n" };
  const other = { released, current: "a: number\nb: string\n" };
  const unreleased = { released: undefined, current: "a: string\n" };

  it.each([
    ["none needs no plan", same, []],
    ["an addition needs a minor release", more, [plan("patch"), plan("minor")]],
    ["an addition may come with a major one", more, [plan("major")]],
    ["a line that is gone needs a major release", other, [plan("major")]],
    ["a line that is gone may be told to be compatible", other, [plan("minor", true)]],
    ["a package that is in no release needs a plan", unreleased, [plan("minor")]],
  ])("%s", (_, report, plans) => {
    expect(untoldChange(report, plans)).toBeUndefined();
  });

  it.each([
    ["an addition without a plan", more, [], "a version plan of a minor release"],
    ["an addition in a patch", more, [plan("patch")], "a version plan of a minor release"],
    ["a package that is in no release", unreleased, [], "a version plan of a minor release"],
    ["a line that is gone", other, [plan("minor")], "  - a: string\n"],
    ["a compatible line in a patch", other, [plan("patch", true)], "of a minor release"],
  ])("%s is refused", (_, report, plans, words) => {
    expect(untoldChange(report, plans)).toContain(words);
  });
});
