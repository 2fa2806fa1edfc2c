import { expect, it } from "vitest";
import { InvalidSettings, payoutState } from "../src/index.ts";

const complete_time = "2026-12-01T10:00:00Z";

it.each([
  [{ payout_status: " Completed" }, "completed"],
  [{ payout_status: "closed", complete_time }, "completed"],
  [{ complete_time }, "completed"],
  [{ payout_status: "closed" }, "open"],
  [{ payout_status: "awaiting_funds", complete_time }, "open"],
  [{ payout_status: "settled in a way of its own", complete_time }, "open"],
  [{}, "open"],
  [{ payout_status: "FAILED", complete_time }, "failed"],
  [{ payout_status: "reversed" }, "returned"],
] as const)("a payout with %j is %s", (payout, state) => {
  expect(payoutState(payout)).toBe(state);
});

it("follows the assumptions that are given, and the defaults of the others", () => {
  const assumptions = { payoutCompletedStatuses: ["paid"] };
  expect(payoutState({ payout_status: "paid" }, assumptions)).toBe("completed");
  expect(payoutState({ payout_status: "completed" }, assumptions)).toBe("open");
  expect(payoutState({ payout_status: "rejected" }, assumptions)).toBe("failed");
});

it.each(["completed", null, undefined, 5, []])("%j is no payout, and not open", (payout) => {
  expect(() => payoutState(payout as never)).toThrow("payoutState takes a payout");
});

it("refuses an assumption that there is not", () => {
  const state = () => payoutState({ payout_status: "paid" }, { completed: ["paid"] } as never);
  expect(state).toThrow(InvalidSettings);
  expect(state).toThrow("no assumption completed");
});
