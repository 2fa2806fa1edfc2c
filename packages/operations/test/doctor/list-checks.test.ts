import { defaultAssumptions } from "@durable-payments/api-core";
import { describe, expect, it } from "vitest";
import { checkLists, type ReconciliationAssumptions } from "../../src/doctor/list-checks.ts";

const BEGIN = Date.parse("2026-01-01T12:00:00Z");

const newestFirst = (row: number) => new Date(BEGIN - row * 1_000).toISOString();
const oldestFirst = (row: number) => new Date(BEGIN + row * 1_000).toISOString();

/** What the doctor reports of two lists of so many pages, and the pages that it read of each. */
const checked = async (
  total_page: number,
  timeOf: (row: number) => string,
  assumptions: Partial<ReconciliationAssumptions> = {},
) => {
  const read: Array<number> = [];
  const page = ({ page_num, page_size }: { page_num: number; page_size: number }) => {
    read.push(page_num);
    const rows = Array.from({ length: total_page === 0 ? 0 : page_size }, (_, i) => ({
      payout_id: `id-${page_num}-${i}`,
      card_holder_id: `id-${page_num}-${i}`,
      create_time: timeOf((page_num - 1) * page_size + i),
    }));
    const total_item = total_page * page_size;
    return Promise.resolve({ total_item, total_page, item_list: rows, unreadable: [] });
  };
  const [payouts, cardholders] = await checkLists(
    { listPayouts: page, listCardholders: page },
    { ...defaultAssumptions, ...assumptions },
  );
  return { payouts, cardholders, read: read.toSorted((a, b) => a - b) };
};

describe("of the lists that writes are reconciled by, the doctor", () => {
  it.each([
    [7, newestFirst, "7 pages, newest first as far as was read", [1, 1, 2, 2]],
    [7, oldestFirst, "7 pages, not newest first", [1, 1, 2, 2]],
    [0, newestFirst, "0 pages, too short to show an order", [1, 1]],
  ])(
    "shows how long they are, and how they begin: %i pages, %o",
    async (pages, of, detail, read) => {
      const found = await checked(pages, of);
      expect(found.payouts).toMatchObject({ status: "ok" });
      expect(found.payouts?.detail).toContain(detail);
      expect(found.cardholders?.detail).toContain(detail);
      expect(found.read).toEqual(read);
    },
  );

  it("warns where a reconciliation ends in a human task, and shows what may help", async () => {
    const { cardholders, payouts } = await checked(1_001, newestFirst);
    expect(payouts).toMatchObject({ status: "warning" });
    expect(payouts?.remedy).toContain("set reconcileByTimeRange or listsAreNewestFirst in");
    expect(cardholders?.remedy).toContain("set listsAreNewestFirst in");
  });

  it.each([
    [{ reconciliationMaxPages: 1_001 }, "ok", "ok"],
    [{ listsAreNewestFirst: true }, "ok", "ok"],
    [{ reconcileByTimeRange: true }, "ok", "warning"],
  ])("does not where %j", async (assumptions, ofPayouts, ofCardholders) => {
    const { cardholders, payouts } = await checked(1_001, newestFirst, assumptions);
    expect([payouts?.status, cardholders?.status]).toEqual([ofPayouts, ofCardholders]);
  });

  it("warns where they are assumed to be newest first, and are not", async () => {
    const { payouts } = await checked(7, oldestFirst, { listsAreNewestFirst: true });
    expect(payouts).toMatchObject({ status: "warning" });
    expect(payouts?.detail).toContain("not newest first: reconciliations read it to its end");
  });

  it("goes on where one cannot be read", async () => {
    const checks = await checkLists(
      {
        listPayouts: () => Promise.reject(new Error("no such path")),
        listCardholders: () => Promise.resolve({ item_list: [], unreadable: [] }),
      },
      defaultAssumptions,
    );
    expect(checks).toMatchObject([
      { name: "list of payouts", status: "skipped", detail: "it could not be read: no such path" },
      { name: "list of cardholders", status: "ok" },
    ]);
  });
});
