import type { FeedEvent } from "@durable-payments/ledger";
import { expect, it } from "vitest";
import { compareOrder, compareStates } from "../src/evidence/events.ts";
import type { Owed } from "../src/evidence/reports.ts";

const FEED = ["evt_1", "evt_2", "evt_3"];

it.each([
  [
    "nothing, if all came in order, some twice, and one that a restore has lost",
    ["evt_1", "lost", "evt_2", "evt_1", "evt_3"],
    0,
  ],
  ["a lost event", ["evt_1", "evt_3"], 1],
  ["an event that never came", ["evt_1", "evt_2"], 1],
  ["events out of order", ["evt_2", "evt_1", "evt_3"], 1],
])("finds %s", (_, had, count) => {
  const found: Array<string> = [];
  compareOrder("the webhook", FEED, had, (verdict) => found.push(verdict));
  expect(found).toHaveLength(count);
});

it.each([
  ["completed", 0],
  ["made", 1],
  ["returned", 1],
])("compares the last event of a payout with the books: %s", (state, count) => {
  const event = { subject: "payment", workflowId: "w", resultId: "P" } as const;
  const feed = ["made", state].map((each) => ({ ...event, state: each }));
  const owed = { id: "P", subject: "w", states: ["paid"] } as const;
  const found: Array<string> = [];
  // Only these fields are compared.
  compareStates(feed as unknown as ReadonlyArray<FeedEvent>, [owed as unknown as Owed], (verdict) =>
    found.push(verdict),
  );
  expect(found).toHaveLength(count);
});

it.each([
  [["cameBack", "unknown"], 0],
  [["cameBack"], 1],
])("a payout whose id no event has may be %j", (states, count) => {
  const feed = [{ subject: "payment", workflowId: "w", state: "unknown" }];
  const owed = { id: "P", subject: "w", states };
  const found: Array<string> = [];
  // Only these fields are compared.
  compareStates(feed as unknown as ReadonlyArray<FeedEvent>, [owed as unknown as Owed], (verdict) =>
    found.push(verdict),
  );
  expect(found).toHaveLength(count);
});
