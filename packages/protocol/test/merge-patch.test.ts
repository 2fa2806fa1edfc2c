import { describe, expect, it } from "vitest";
import { mergePatch } from "../src/index.ts";

describe("a merge patch", () => {
  it.each([
    [{ a: 1, b: 2 }, { b: 3 }, { a: 1, b: 3 }],
    [{ a: { b: 1, c: 2 } }, { a: { c: null } }, { a: { b: 1 } }],
    [{ a: 1 }, { b: { c: { d: 2 } } }, { a: 1, b: { c: { d: 2 } } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 1 }, { b: null }, { a: 1 }],
    ["text", { a: 1 }, { a: 1 }],
  ])("of %j by %j is %j", (value, patch, merged) => {
    expect(mergePatch(value, patch)).toEqual(merged);
  });
});
