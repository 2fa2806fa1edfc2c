import { describe, expect, it } from "vitest";
import type { Page } from "@durable-payments/api-core";
import { ListReading } from "../../src/evidence/list-reading.ts";

interface Row {
  readonly id: string;
}

/** A page of rows with these ids; a total left out is absent. */
const page = (
  ids: ReadonlyArray<string>,
  total_item?: number,
  total_page?: number,
  unreadable: Page<Row>["unreadable"] = [],
): Page<Row> => ({
  item_list: ids.map((id) => ({ id })),
  unreadable,
  ...(total_item !== undefined && { total_item }),
  ...(total_page !== undefined && { total_page }),
});

const odd = (fields: Readonly<Record<string, unknown>>) => ({ reason: "has no id", fields });

const readingOf = (...pages: ReadonlyArray<Page<Row>>) => {
  const reading = new ListReading<Row>("id", Number.POSITIVE_INFINITY);
  return { reading, next: pages.map((one) => reading.add(one)) };
};

const faultOf = (...pages: ReadonlyArray<Page<Row>>) => readingOf(...pages).reading.pageFault;

describe("pages that are usable", () => {
  it.each([
    ["is empty", [page([], 0, 0)]],
    ["is empty, on one page", [page([], 0, 1)]],
    ["has one page", [page(["a", "b"], 2, 1)]],
    [
      "has smaller pages than were asked for and counted",
      [page(["a", "b"], 5, 1), page(["c", "d"], 5, 1), page(["e"], 5, 1), page([], 5, 1)],
    ],
    ["has several", [page(["a", "b"], 3, 2), page(["c"], 3, 2)]],
    ["lists an id twice on a page, and counts it twice", [page(["a", "a", "b"], 3, 1)]],
    ["has rows that cannot be read", [page(["a"], 3, 1, [odd({}), odd({})])]],
    [
      "has such rows on several pages",
      [page(["a"], 4, 2, [odd({ amount: "1" })]), page(["b"], 4, 2, [odd({ amount: "2" })])],
    ],
  ])("%s", (_, pages) => {
    expect(faultOf(...pages)).toBeUndefined();
  });
});

it("a list whose pages are smaller than counted is read on until nothing new comes", () => {
  const pages = [page(["a", "b"], 5, 1), page(["c", "d"], 5, 1), page(["e"], 5, 1)];
  expect(readingOf(...pages, page([], 5, 1)).next).toEqual([2, 3, 4, undefined]);
  const repeated = [page(["a", "b"], 5, 1), page(["a", "b"], 5, 1)];
  expect(readingOf(...repeated).next).toEqual([2, undefined]);
});

describe("a page that is not usable", () => {
  it.each([
    ["a page without items", [page([], 1, 1)], "page 1 of 1 has no items, but total_item is 1"],
    ["no pages for its items", [page([], 7, 0)], "page 1 of 0 has no items, but total_item is 7"],
    [
      "a later page without items",
      [page(["a"], 2, 2), page([], 2, 2)],
      "page 2 of 2 has no items, but total_item is 2",
    ],
    [
      "no total_item",
      [page(["a"], undefined, 1)],
      "page 1 does not say how many items and pages there are",
    ],
    ["no total_page", [page(["a"], 1)], "page 1 does not say how many items and pages there are"],
    ["no totals at all", [page([])], "page 1 does not say how many items and pages there are"],
  ])("shows %s", (_, pages, fault) => {
    expect(faultOf(...pages)).toBe(fault);
  });
});

describe("page by page", () => {
  it.each([
    ["says so", page(["a"], 3, 2), 2],
    ["is the last", page(["a"], 1, 1), undefined],
    ["is empty", page([], 3, 2), undefined],
    ["says nothing, and has items", page(["a"]), 2],
    ["says nothing, and has none", page([]), undefined],
    ["says how many items there are", page(["a"], 2), 2],
    ["has as many items as there are", page(["a"], 1), undefined],
  ])("the next is asked for where a page %s", (_, first, next) => {
    expect(readingOf(first).next[0]).toBe(next);
  });

  it("a service that shows the same page for ever is left", () => {
    expect(readingOf(page(["a"]), page(["a"])).next.at(-1)).toBeUndefined();
  });
});

describe("totals that count the page instead of the list", () => {
  it("do not end a reading at a full page", () => {
    const reading = new ListReading<Row>("id", 2);
    expect(reading.add(page(["a", "b"], 2, 1))).toBe(2);
    expect(reading.add(page(["c"], 1, 1))).toBeUndefined();
  });

  it("are distinguished from a list that fills its last page by an empty page, or by the last one again", () => {
    for (const beyond of [page([], 2, 1), page(["a", "b"], 2, 1)]) {
      const reading = new ListReading<Row>("id", 2);
      expect(reading.add(page(["a", "b"], 2, 1))).toBe(2);
      expect(reading.add(beyond)).toBeUndefined();
    }
  });
});
