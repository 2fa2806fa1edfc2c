import { expect, it } from "vitest";
import { manyText } from "../../src/input/retrying.ts";
import { cancelledBatchText } from "../../src/output/batch-text.ts";
import { succeededLines } from "../../src/output/next.ts";

it("lists the runs that can be retried apart from those that cannot, with the reason", () => {
  const planned = [
    { workflowId: "can", runId: "r", way: "start", whyNot: undefined },
    { workflowId: "cannot", way: undefined, whyNot: "A retry of cannot cannot help." },
  ] as const;
  expect(manyText(planned, false).split("\n")).toEqual([
    "1 failed run can be retried.",
    "",
    "Can be retried",
    "  can  starts the workflow id again",
    "",
    "Cannot be retried",
    "  cannot  A retry of cannot cannot help.",
  ]);
  expect(manyText(planned.slice(1), true)).toMatch(/^0 failed runs retried\.\n\nNot retried/);
});

const ended = { batch: "payouts/1", notStarted: 2, stopped: 0, goOn: 0, unanswered: 0, sent: [] };

it("names --started if started rows of a cancelled file go on", () => {
  expect(cancelledBatchText({ ...ended, goOn: 3 }).split("\n")).toEqual([
    "payouts/1 is cancelled: 2 rows had not started, and will not be paid.",
    "3 started rows not stopped, and may be paid. To stop them: --started.",
  ]);
});

it("says what had left before a file was cancelled, by what became of it", () => {
  const sent = (["paid", "underWay", "unknown"] as const).map((state, at) => {
    return { state, amount: `${at + 1}.00`, currency: "EUR" };
  });
  expect(
    cancelledBatchText({ ...ended, stopped: 3, sent })
      .split("\n")
      .slice(1),
  ).toEqual([
    "3 started rows stopped: nothing more is sent under their ids.",
    "",
    "Sent before, and not reversed",
    "  paid             1.00 EUR",
    "  under way        2.00 EUR",
    "  outcome unknown  3.00 EUR",
  ]);
});

it.each([
  ["completed", "had already succeeded"],
  ["made", "was already accepted, and may still be paid"],
  ["failed", "was already accepted, and failed"],
  ["returned", "was already paid, and came back"],
] as const)("says of a stopped run what became of its payout: %s", (standing, words) => {
  const payout = { step: "createPayout", amount: "1.00", currency: "EUR", madeId: "p-1", standing };
  expect(succeededLines([payout])).toEqual([
    `createPayout ${words}: 1.00 EUR, p-1. The stop order does not reverse it.`,
  ]);
});
