import { expect, it } from "vitest";
import { cancelledBatchText } from "../../src/output/batch-text.ts";
import { succeededLines } from "../../src/output/next.ts";
import { failedText, repairPlanText } from "../../src/output/repair-text.ts";

it("lists the runs that can be retried apart from those that cannot, with the reason and the sums", () => {
  const retry = {
    workflowId: "can",
    runId: "r",
    type: "payout",
    way: "start",
    kept: ["createBeneficiary"],
    again: ["createPayout"],
    amount: "2.00",
    currency: "EUR",
    payee: "b-1",
    payeeName: "Muster AG",
    payeeAccount: "2606",
    amended: ["payout.amount: 3.00 → 2.00"],
  } as const;
  const plan = {
    content: "c",
    retries: [retry],
    notHelped: [{ workflowId: "cannot", whyNot: "A retry of cannot cannot help." }],
    sums: [{ amount: "2.00", currency: "EUR" }],
    needsApproval: true,
    hasMore: true,
  };
  expect(repairPlanText(plan).split("\n")).toEqual([
    "1 failed run can be retried: 2.00 EUR. 1 run cannot.",
    "",
    "Can be retried",
    "  can  2.00 EUR to Muster AG …2606; start again; keeps createBeneficiary; runs",
    "       createPayout; payout.amount: 3.00 → 2.00",
    "",
    "Cannot be retried",
    "  cannot  A retry of cannot cannot help.",
    "A repair takes at most 10,000 runs, and more match. Choose fewer by --since,",
    "--step, --group or --batch, or repeat the command once it has finished.",
    "A second person has to approve the sum of the amended payments.",
  ]);
});

it("prints a reason that several runs share once", () => {
  const ids = ["one", "two", "three", "four", "five"];
  const plan = {
    content: "c",
    retries: [],
    notHelped: [
      ...ids.map((workflowId) => ({ workflowId, whyNot: `${workflowId} is started again.` })),
      { workflowId: "other", whyNot: "A retry of other cannot help." },
    ],
    sums: [],
    needsApproval: false,
    hasMore: false,
  };
  expect(repairPlanText(plan).split("\n").slice(2)).toEqual([
    "Cannot be retried",
    "  5 runs  Each is started again. Runs: one, two, three and 2 more",
    "  other   A retry of other cannot help.",
  ]);
});

it("prints groups of failed runs, and how to retry the largest", () => {
  const group = {
    group: "payout-1a2b3c4d",
    type: "payout",
    step: "createPayout",
    error: "Refused",
    message: "Payout … was refused",
    runs: 2,
    sums: [{ amount: "5.00", currency: "EUR" }],
    first: 0,
    last: 60_000,
    examples: ["p-1", "p-2"],
  };
  expect(failedText({ groups: [group] }, [{ action: "retryAll" }], 120_000)).toMatch(
    /^payout-1a2b3c4d {2}2 runs {2}5\.00 EUR\n {2}payout, createPayout, Refused\n {2}Payout … was refused\n {2}1970-01-01 00:00:00Z to .* ago; p-1, p-2\n[^]*--all-failed.*--group payout-1a2b3c4d/,
  );
  expect(failedText({ groups: [] })).toBe("No failed run.");
});

const ended = { batch: "payouts/1", notStarted: 2, stopped: 0, goOn: 0, unanswered: 0, sent: [] };

it("names --started if started rows of a cancelled file go on", () => {
  expect(cancelledBatchText({ ...ended, goOn: 3 }).split("\n")).toEqual([
    "payouts/1 is cancelled: 2 rows had not started, and will not start.",
    "3 started rows not stopped. To stop them, too: --started.",
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
