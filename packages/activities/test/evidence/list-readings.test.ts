import { RequestRefused, Unavailable } from "@durable-payments/client/effect";
import { describe, expect, it } from "vitest";
import { ListReadings, type ListSource } from "../../src/evidence/list-readings.ts";

interface Item {
  readonly id: string;
}

/** A list of one page, whose readings are counted and can be held. */
const listOf = (ids: () => ReadonlyArray<string>) => {
  const counts = { pages: 0 };
  const gates: Array<() => void> = [];
  const readings = new ListReadings<Item>(() => ({
    idField: "id",
    pageSize: 50,
    mostPages: 10,
    read: async () => {
      counts.pages += 1;
      const items = ids().map((id) => ({ id }));
      await new Promise<void>((resolve) => {
        gates.push(resolve);
      });
      return { total_item: items.length, total_page: 1, item_list: items, unreadable: [] };
    },
  }));
  const open = async () => {
    await expect.poll(() => gates.length).toBeGreaterThan(0);
    gates.shift()?.();
  };
  return { counts, open, readings };
};
const never = () => false;
const readingsOf = (source: ListSource<Item>) => new ListReadings<Item>(() => source);

describe("readings of a list", () => {
  it("are shared by everyone who asks at once", async () => {
    const { counts, open, readings } = listOf(() => ["a"]);
    const both = [readings.read(never), readings.read(never)];
    await open();
    expect(await Promise.all(both)).toMatchObject([{ fault: undefined }, { fault: undefined }]);
    expect(counts.pages).toBe(1);
  });

  it("are never joined once they have begun", async () => {
    let ids = ["a"];
    const { counts, open, readings } = listOf(() => ids);
    const first = readings.read(never);
    await expect.poll(() => counts.pages).toBe(1);
    ids = ["a", "b"];
    const [second, third] = [readings.read(never), readings.read(never)];
    await open();
    expect((await first).items).toHaveLength(1);
    await open();
    expect((await second).items).toHaveLength(2);
    expect((await third).items).toHaveLength(2);
    expect(counts.pages).toBe(2);
  });

  it("fail for those who share them, and go on for the next", async () => {
    let isDown = true;
    const readings = readingsOf({
      idField: "id",
      pageSize: 50,
      mostPages: 10,
      read: async () => {
        if (isDown) throw new Error("down");
        return { total_item: 0, total_page: 0, item_list: [], unreadable: [] };
      },
    });
    await expect(readings.read(never)).rejects.toThrow("down");
    isDown = false;
    expect(await readings.read(never)).toMatchObject({ items: [], fault: undefined });
  });

  describe("of a list that fills its last page", () => {
    const error = (status: number) =>
      new Unavailable({ operation: "listPayouts", carriedOut: "no", message: "no", status });
    const refused = new RequestRefused({
      operation: "listPayouts",
      carriedOut: "no",
      message: "no",
      code: 400,
      reason: "page_num is out of range",
    });
    const read = (beyond: Error, total_page = 1) =>
      readingsOf({
        idField: "id",
        pageSize: 2,
        mostPages: 10,
        read: async (page) => {
          if (page > 1) throw beyond;
          return {
            total_item: 2,
            total_page,
            item_list: [{ id: "a" }, { id: "b" }],
            unreadable: [],
          };
        },
      }).read(never);

    it.each([
      ["400 in the envelope", refused],
      ["404", error(404)],
      ["500", error(500)],
    ])("believe its totals where the page after it is answered with %s", async (_, beyond) => {
      expect(await read(beyond)).toMatchObject({
        items: [{ id: "a" }, { id: "b" }],
        fault: undefined,
      });
    });

    it.each([
      [
        "it was not answered",
        new Unavailable({ operation: "listPayouts", carriedOut: "no", message: "no" }),
        1,
      ],
      ["a gateway answers", error(503), 1],
      ["it is a page of the list", error(500), 2],
    ])("fail where the page after it cannot be read: %s", async (_, beyond, total_page) => {
      await expect(read(beyond, total_page)).rejects.toThrow("no");
    });

    it("are no evidence where one of its pages is refused", async () => {
      expect((await read(error(404), 2)).fault).toBe("page 2 could not be read: no");
    });
  });

  const page = (ids: string, total_item?: number, total_page?: number) => ({
    item_list: ids.split("").map((id) => ({ id })),
    unreadable: [],
    ...(total_item !== undefined && { total_item }),
    ...(total_page !== undefined && { total_page }),
  });

  it.each([
    ["is empty", 50, [page("", 0, 0)], 1],
    ["is empty, on one page", 50, [page("", 0, 1)], 1],
    ["has one page", 50, [page("ab", 2, 1)], 1],
    ["shows a row twice on a page, and counts it twice", 50, [page("aab", 3, 1)], 1],
    ["has full pages", 2, [page("ab", 3, 2), page("c", 3, 2)], 4],
    [
      "has smaller pages than were asked for and counted",
      50,
      [page("ab", 5, 1), page("cd", 5, 1), page("e", 5, 1)],
      6,
    ],
    ["does not say how many pages it has", 50, [page("ab", 3), page("c", 3), page("", 3)], 6],
    [
      "fills its last page, and has an empty one after it",
      2,
      [page("ab", 2, 1), page("", 2, 1)],
      2,
    ],
    ["shows its last page again after it", 2, [page("ab", 2, 1), page("ab", 2, 1)], 2],
  ])("know all of a list that %s", async (_, pageSize, pages, requests) => {
    let asked = 0;
    const read = async (page_num: number) => {
      asked += 1;
      return pages[page_num - 1] ?? page("", 0, 0);
    };
    const readings = readingsOf({ idField: "id", pageSize, mostPages: 10, read });
    expect((await readings.read(never)).fault).toBeUndefined();
    expect(asked).toBe(requests);
  });

  it.each([
    [
      "counts its page instead of itself",
      2,
      [page("ab", 2, 1), page("c", 1, 1)],
      "total_item fell",
    ],
    [
      "counts its small page, and all its pages",
      9,
      [page("ab", 2, 2), page("cd", 2, 2)],
      "4 items",
    ],
    ["shows the same page again and again", 9, [page("a", 2), page("a", 2)], "1 items were listed"],
    ["has a page without rows", 9, [page("", 1, 1)], "0 items were listed"],
    ["has a later page without rows", 1, [page("a", 2, 2), page("", 2, 2)], "1 items were listed"],
    ["does not say how many rows it has", 9, [page("a", undefined, 1)], "does not say how many"],
  ])("prove nothing by a list that %s", async (_, pageSize, pages, fault) => {
    const read = async (page_num: number) => pages[page_num - 1] ?? page("", 0, 0);
    const readings = readingsOf({ idField: "id", pageSize, mostPages: 10, read });
    expect((await readings.read(never)).fault).toContain(fault);
  });

  it("are no evidence beyond the most pages", async () => {
    const readings = readingsOf({
      idField: "id",
      pageSize: 50,
      mostPages: 2,
      read: async (page) => ({
        total_item: 200,
        total_page: 4,
        item_list: Array.from({ length: 50 }, (_, i) => ({ id: `${page}-${i}` })),
        unreadable: [],
      }),
    });
    expect((await readings.read(never)).fault).toContain("more than 2 pages");
  });
});
