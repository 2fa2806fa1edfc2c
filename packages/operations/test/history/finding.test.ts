import { expect, it } from "vitest";
import { findingOf } from "../../src/history/sends.ts";

const read = (result: object, more: object = {}) =>
  findingOf({
    type: "findPayouts",
    input: {},
    at: 0,
    isDone: true,
    result: { matches: [], unreadableRows: 0, ...result },
    failure: "",
    failureDetail: undefined,
    ...more,
  });

const like = { id: "p-1", isOurs: false, isExact: true };

it.each([
  ["found", { matches: [{ ...like, isOurs: true }] }],
  ["absent", {}],
  ["absent", { matches: [{ ...like, owner: "another run" }] }],
  ["unclear", { matches: [like] }],
  ["unclear", { matches: [{ ...like, isOurs: true, isMissing: true }] }],
  ["unclear", { unreadableRows: 1 }],
  ["unclear", { incomplete: "It has more rows than it says." }],
])("a reading of the list is %s: %j", (finding, result) => {
  expect(read(result)).toBe(finding);
});

it("what has not ended, or reads no list, has found nothing", () => {
  expect(read({}, { isDone: false })).toBeUndefined();
  expect(read({}, { type: "createPayout" })).toBeUndefined();
});
