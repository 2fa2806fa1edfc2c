import { expect, it } from "vitest";
import { keyedName } from "../src/calls.ts";
import { inputFaults, isKey } from "../src/inputs.ts";

it("a payout's key names the same write as a payout's workflow id, other operations their own", () => {
  expect(keyedName("a", "createPayout", "may/1")).toEqual({
    account: "a",
    workflowId: "payout/may/1",
    step: "createPayout",
  });
  expect(keyedName("a", "createCard", "may/1")).toMatchObject({
    workflowId: "createCard/may/1",
    step: "createCard",
  });
});

it.each(["cafe\u0301 1", " café 1", "café 1\n", "caf\u200bé\u00a01", "café 1\u2028"])(
  "a key is one in any spelling that looks the same: %j",
  (key) => {
    expect(isKey(key)).toBe(true);
    expect(keyedName("a", "createPayout", key)).toEqual(keyedName("a", "createPayout", "café 1"));
  },
);

it.each([
  ["salary/2026-11/e17", true],
  ["Café, Straße 5: 12%", true],
  ["x".repeat(200), true],
  ["x".repeat(201), false],
  ["", false],
  ["two\nlines", false],
  ['"may"', false],
  ["ma\\y", false],
  ["may\u200dbe", false],
  ["1.23457E+12", false],
  ["\u3164", false],
  ["may\u2028be", false],
  ["may\ud800", false],
  [17, false],
  [undefined, false],
])("%j is a key: %j", (key, is) => {
  expect(isKey(key)).toBe(is);
});

it.each<[Parameters<typeof inputFaults>[0], unknown, ReadonlyArray<string>]>([
  ["payout", { beneficiary_id: "b", payout: {}, key: "may" }, []],
  ["payout", { beneficiary_id: "b", payout: {}, key: "m\\y" }, ["key"]],
  ["payout", { beneficiary_id: "b", payout: {}, options: null }, ["options"]],
  ["tracker", { account: "a" }, []],
  ["tracker", null, [""]],
  ["tracker", { account: 5, name: "EU", known: [] }, ["account", "name", "known"]],
  ["runBatch", { batch: "b", startedBy: "ada", window: 5, rows: [] }, []],
  ["runBatch", { batch: "b", rows: {} }, ["startedBy", "window", "rows"]],
])("the input of %s, %j, has faults in %j", (workflow, input, fields) => {
  expect(inputFaults(workflow, input).map(({ field }) => field)).toEqual(fields);
});
