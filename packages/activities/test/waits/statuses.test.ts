import { defaultAssumptions, type Payout } from "@durable-payments/client/effect";
import { describe, expect, it } from "vitest";
import { payoutStatus, type Words } from "../../src/payout-status.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

const UNDECIDED: Words = new Map();

const statusOf = (
  payout: Partial<Payout>,
  assumptions: Partial<typeof defaultAssumptions> = {},
  words = UNDECIDED,
) =>
  payoutStatus(
    { payout_id: "p-1", payout_status: "processing", ...payout },
    { ...defaultAssumptions, clockSkewSeconds: 300, ...assumptions },
    words,
    undefined,
    NOW,
  );

const stateOf = (...of: Parameters<typeof statusOf>) => statusOf(...of).outcome ?? "open";

describe("a payout", () => {
  it.each([
    "0001-01-01T00:00:00Z",
    "0000-12-31T19:03:58-04:56",
    "0000-00-00 00:00:00",
    "1970-01-01T00:00:00Z",
    "0",
    "-",
    "",
    "soon",
  ])("is open while its completion time is unset: %j", (complete_time) => {
    expect(stateOf({ complete_time })).toBe("open");
  });

  it.each([
    ["before it was created", "2026-11-21T10:54:59Z", "open"],
    ["before it was created, as clocks differ", "2026-11-21T10:55:01Z", "completed"],
    ["now", "2026-11-21T12:00:00Z", "completed"],
    ["after now, as clocks differ", "2026-11-21T12:04:59Z", "completed"],
    ["after now", "2026-11-21T12:05:01Z", "open"],
    ["on the day of its creation", "2026-11-21", "completed"],
    ["on another day before", "2026-11-20", "open"],
  ])("that says to have been completed %s", (_, complete_time, state) => {
    expect(stateOf({ complete_time, create_time: "2026-11-21T11:00:00Z" })).toBe(state);
  });

  it("takes a completion time without offset for UTC, or for the zone that is assumed", () => {
    const soon = "2026-11-21T13:00:00";
    expect(stateOf({ complete_time: soon })).toBe("open");
    expect(stateOf({ complete_time: soon }, { timeZone: "Asia/Singapore" })).toBe("completed");
    const before = { complete_time: "2026-11-21T09:00:00", create_time: "2026-11-21T10:00:00" };
    expect(stateOf(before)).toBe("open");
  });

  it.each([
    ["Singapore's, without offset", "2026-11-21T19:50:00", "2026-11-21T19:50:08", undefined],
    ["of a clock an hour ahead", "2026-11-21T12:59:00Z", "2026-11-21T12:59:08Z", undefined],
    [
      "days after its creation",
      "2026-11-18T19:50:00",
      "2026-11-21T19:50:08",
      "2026-11-21T19:50:08",
    ],
  ])("is completed at a time that its other times bear out: %s", (_, create, complete, update) => {
    const payout = { create_time: create, complete_time: complete };
    expect(stateOf({ ...payout, ...(update !== undefined && { update_time: update }) })).toBe(
      "completed",
    );
    // Nothing says that it is not still to come.
    expect(stateOf({ complete_time: complete })).toBe("open");
    expect(stateOf({ ...payout, complete_time: "2026-11-25T00:00:00" })).toBe("open");
  });

  it.each([-86_400_000, -3_600_000, 0, 3_600_000, 86_400_000])(
    "is completed by the service's own clock, if the ledger has made it: %i ms ahead",
    (ahead) => {
      const at = (hours: number) => new Date(NOW + ahead + hours * 3_600_000).toISOString();
      const payout = { payout_id: "p-1", payout_status: "processing", create_time: at(-2) };
      const stateAt = (hours: number) =>
        payoutStatus(
          { ...payout, complete_time: at(hours) },
          defaultAssumptions,
          UNDECIDED,
          2 * 3_600_000,
          NOW,
        ).outcome ?? "open";
      // Two hours ago, an hour ago, now, and in an hour.
      expect([-2, -1, 0, 1].map(stateAt)).toEqual([...Array(3).fill("completed"), "open"]);
    },
  );

  it("takes the difference of clocks from the assumptions", () => {
    const complete_time = "2026-11-21T12:10:00Z";
    expect(stateOf({ complete_time })).toBe("open");
    expect(stateOf({ complete_time }, { clockSkewSeconds: 900 })).toBe("completed");
  });

  it.each([
    ["completed", "completed", "completed"],
    ["FAILED", "failed", "failed"],
    ["Failed ", "failed", "failed"],
    ["reversed", "returned", "returned"],
    ["Returned", "returned", "returned"],
    ["", "open", "completed"],
    [undefined, "open", "completed"],
    ["processing", "open", "completed"],
    ["Trade_Settled", "open", "completed"],
    ["funds_arrived", "open", "completed"],
    ["closed", "open", "completed"],
    ["awaiting_funds", "open", "open"],
    ["payment_failed", "open", "open"],
    ["paid", "open", "open"],
    ["something new", "open", "open"],
  ])("of status %s is %s, and with a completion time %s", (payout_status, without, withTime) => {
    const complete_time = "2026-11-21T11:00:00Z";
    // The property is left out.
    const status = { payout_status } as Partial<Payout>;
    expect(stateOf(status)).toBe(without);
    expect(stateOf({ ...status, complete_time })).toBe(withTime);
  });

  it("is completed by its time only with the statuses that are assumed", () => {
    const paid = { payout_status: "paid", complete_time: "2026-11-21T11:00:00Z" };
    expect(stateOf(paid, { completeTimeStatuses: ["paid"] })).toBe("completed");
    const unnamed = { ...paid, payout_status: "" };
    expect(stateOf(unnamed)).toBe("completed");
    expect(stateOf(unnamed, { completeTimeStatuses: [] })).toBe("open");
  });

  describe("whose word nobody has listed", () => {
    const complete_time = "2026-11-21T11:00:00Z";
    const paidOut = { payout_status: " Paid out ", complete_time };

    it("asks for its meaning once it has a completion time, and is open until then", () => {
      expect(statusOf({ payout_status: "Paid out" })).toMatchObject({
        word: "Paid out",
        outcome: null,
        asks: false,
      });
      expect(statusOf(paidOut)).toMatchObject({ word: "Paid out", outcome: null, asks: true });
      const implausible = { ...paidOut, complete_time: "2027-01-01T00:00:00Z" };
      expect(statusOf(implausible)).toMatchObject({ outcome: null, asks: false });
    });

    it("has a decided meaning also if its text is cut in the middle of a character", () => {
      const payout_status = `${"x".repeat(99)}😀`;
      // As the ledger stores it.
      const decided: Words = new Map([[`${"x".repeat(99)}\uFFFD`, "completed"]]);
      expect(stateOf({ payout_status }, {}, decided)).toBe("completed");
    });

    it("asks about no listed word, and about no missing one", () => {
      for (const payout_status of ["processing", "completed", "failed", "returned", ""])
        expect(statusOf({ payout_status, complete_time })).toMatchObject({ asks: false });
      expect(
        statusOf({ payout_status: "", complete_time }, { completeTimeStatuses: [] }),
      ).toMatchObject({ outcome: null, asks: false });
    });

    it.each(["completed", "failed", "returned"] as const)(
      "is %s from a person's decision on, with and without a completion time",
      (means) => {
        const words = new Map([["paid out", means]]);
        expect(statusOf(paidOut, {}, words)).toMatchObject({
          word: "Paid out",
          outcome: means,
          asks: false,
        });
        expect(statusOf({ payout_status: "PAID OUT" }, {}, words)).toMatchObject({
          outcome: means,
        });
      },
    );

    it("is open, and asks no more, if a person has said that it is open", () => {
      const words = new Map([["paid out", "open" as const]]);
      expect(statusOf(paidOut, {}, words)).toMatchObject({ outcome: null, asks: false });
    });

    it("is what a setting says, whatever a person has said", () => {
      const words = new Map([["completed", "open" as const]]);
      expect(stateOf({ payout_status: "completed" }, {}, words)).toBe("completed");
    });

    it("shows no account number in a word", () => {
      const { word } = statusOf({ payout_status: "sent to DE89370400440532013000" });
      expect(word).toBe("sent to …3000");
    });
  });
});
