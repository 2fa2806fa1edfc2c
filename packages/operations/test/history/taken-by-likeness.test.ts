import { expect, it } from "vitest";
import type { PastStep } from "../../src/history/run-history.ts";
import { takenByLikeness } from "../../src/history/taken-by-likeness.ts";

const SENT_FROM = Date.parse("2026-11-22T10:00:00.400Z");

const read = (matches: ReadonlyArray<object>, create_time: string) => ({
  type: "findPayouts",
  input: { since: SENT_FROM },
  at: 1,
  isDone: true,
  result: { items: [{ payout_id: "p-1", create_time }], matches, unreadableRows: 0 },
  failure: "",
  failureDetail: undefined,
});

const like = { id: "p-1", isOurs: false, isExact: true };
const owned = new Set(["p-1", "payout:p-1"]);

const stepWith = (
  activity: PastStep["activities"][number],
  decisions: PastStep["decisions"] = [],
): PastStep => ({
  name: "createPayout",
  task: 4,
  taskEnd: 4 as unknown as PastStep["taskEnd"],
  activities: [activity],
  decisions,
});

it.each([
  [
    "2026-11-22T09:59:59Z",
    "found in the list by beneficiary, amount, currency and reference, not by its key; created 2026-11-22 09:59:59 UTC by the service's clock, before this run first sent it (2026-11-22 10:00:00 UTC): it may have been made by somebody else",
  ],
  // Cut to the second.
  [
    "2026-11-22T10:00:00Z",
    "found in the list by beneficiary, amount, currency and reference, not by its key",
  ],
  // Of no zone that is known.
  [
    "2026-11-21T10:00:00",
    "found in the list by beneficiary, amount, currency and reference, not by its key",
  ],
])("what has no key and was created at %s says how it was found", (createdAt, text) => {
  const activity = read([like], createdAt);
  expect(takenByLikeness(stepWith(activity), owned)).toEqual({ activity, id: "p-1", text });
});

it.each<[string, PastStep, ReadonlySet<string>]>([
  ["has the key", stepWith(read([{ ...like, isOurs: true }], "")), owned],
  ["was not taken", stepWith(read([like], "")), new Set(["p-2"])],
  ["a person took", stepWith(read([like], ""), [{ found: { payout_id: "p-1" } }]), owned],
])("what %s was not taken for its likeness", (_, step, ids) => {
  expect(takenByLikeness(step, ids)).toBeUndefined();
});
