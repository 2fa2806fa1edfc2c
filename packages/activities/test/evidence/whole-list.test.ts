import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ListReadings, rowKeys } from "../../src/evidence/list-readings.ts";
import { WholeList } from "../../src/evidence/whole-list.ts";

interface Item {
  readonly id: string;
  readonly create_time?: string;
}

const PAGE_SIZE = 4;

/** What happens to a list while a page of it is on its way. Places are shares of its length. */
type Change =
  | { readonly kind: "add"; readonly to: number }
  | { readonly kind: "move"; readonly from: number; readonly to: number }
  | { readonly kind: "remove"; readonly from: number };

const place = fc.oneof(fc.constantFrom(0, 0.999), fc.double({ min: 0, max: 0.999, noNaN: true }));

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("add" as const), to: place }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("move" as const), from: place, to: place }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), from: place }) },
);

/** A list that anything happens to but that "wanted" goes or what has gone comes back. */
class ChangingList {
  readonly rows: Array<string>;
  #added = 0;

  constructor(length: number, at: number) {
    this.rows = Array.from({ length }, (_, i) => `row-${i}`);
    this.rows.splice(Math.floor(at * length), 0, "wanted");
  }

  change(change: Change): void {
    const index = (at: number) => Math.floor(at * this.rows.length);
    if (change.kind === "add") {
      this.#added += 1;
      this.rows.splice(Math.round(change.to * this.rows.length), 0, `added-${this.#added}`);
      return;
    }
    const [taken = ""] = this.rows.splice(index(change.from), 1);
    if (change.kind === "move") this.rows.splice(index(change.to), 0, taken);
    else if (taken === "wanted") this.rows.push(taken);
  }

  page(page_num: number) {
    return {
      total_item: this.rows.length,
      total_page: Math.ceil(this.rows.length / PAGE_SIZE),
      item_list: this.rows
        .slice((page_num - 1) * PAGE_SIZE, page_num * PAGE_SIZE)
        .map((id): Item => ({ id })),
      unreadable: [],
    };
  }
}

const situation = fc.record({
  length: fc.integer({ min: 0, max: 24 }),
  at: place,
  /** What happens before each page that is read. */
  changes: fc.array(fc.array(anyChange, { maxLength: 3 }), { maxLength: 40 }),
});

type Situation = typeof situation extends fc.Arbitrary<infer A> ? A : never;

const readIn = async ({ at, changes, length }: Situation) => {
  const list = new ChangingList(length, at);
  let reads = 0;
  const readings = new ListReadings<Item>(() => ({
    idField: "id",
    pageSize: PAGE_SIZE,
    mostPages: 1_000,
    read: async (page_num) => {
      for (const change of changes[reads] ?? []) list.change(change);
      reads += 1;
      return list.page(page_num);
    },
  }));
  return readings.read(() => false);
};

describe("a list that anything happens to while it is read", () => {
  it("is evidence only where what it held at the beginning was read", async () => {
    const seen = { evidence: 0, despiteChanges: 0, fault: 0 };
    await fc.assert(
      fc.asyncProperty(situation, async (given) => {
        const { fault, items } = await readIn(given);
        if (fault !== undefined) {
          seen.fault += 1;
          return;
        }
        seen.evidence += 1;
        if (given.changes.slice(0, 4).flat().length > 1) seen.despiteChanges += 1;
        expect(items).toContainEqual({ id: "wanted" });
      }),
      { numRuns: 5_000 },
    );
    // Both happen often: neither side is shown by chance.
    expect(Math.min(seen.fault, seen.despiteChanges)).toBeGreaterThan(200);
  });

  it("is evidence where things are added to it at one end only", async () => {
    const additions = fc.record({
      length: fc.integer({ min: 0, max: 24 }),
      at: place,
      to: fc.constantFrom(0, 1),
      counts: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(additions, async ({ at, counts, length, to }) => {
        const changes = counts.map((count) =>
          Array.from({ length: count }, (): Change => ({ kind: "add", to })),
        );
        const { fault } = await readIn({ at, length, changes });
        expect(fault).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a whole list", () => {
  const page = (ids: string, total_item?: number) => ({ keys: rowKeys(ids.split("")), total_item });
  const listOf = (...pages: ReadonlyArray<ReturnType<typeof page>>) => {
    const whole = new WholeList();
    for (const each of pages) whole.add(each);
    return whole;
  };

  it.each([
    ["is empty", [page("", 0)]],
    ["is on one page", [page("abc", 3)]],
    ["shows one twice on a page, and counts it twice", [page("aab", 3)]],
    ["is read twice", [page("ab", 3), page("c", 3), page("ab", 3), page("c", 3)]],
    [
      "grows at its head, and is known at the beginning of the second reading",
      [page("ab", 3), page("bc", 4), page("xab", 4), page("c", 4)],
    ],
  ])("%s", (_, pages) => {
    expect(listOf(...pages)).toMatchObject({ isProved: true, fault: undefined });
  });

  it.each([
    ["is read once", [page("ab", 3), page("c", 3)], "2 items that were listed before are missing"],
    [
      "has more than was read",
      [page("ab", 4), page("c", 4)],
      "3 items were listed, but total_item is 4",
    ],
    ["has less than was read", [page("abc", 2)], "3 items were listed, but total_item is 2"],
    ["does not say how much it has", [page("ab")], "does not say how many"],
    ["has lost one", [page("ab", 3), page("c", 2)], "total_item fell from 3 to 2"],
    [
      "has lost one and got another",
      // [a b | x c], then a goes and z comes: [b x | c z].
      [page("ab", 4), page("cz", 4), page("bx", 4), page("cz", 4)],
      "5 items were listed, but total_item is 4",
    ],
    [
      "has lost one and got another, and shows neither it nor what was hidden",
      [page("ab", 4), page("cz", 4), page("bb", 4), page("cz", 4)],
      "were listed",
    ],
  ])("is not proved while it %s", (_, pages, fault) => {
    const whole = listOf(...pages);
    expect(whole.isProved).toBe(false);
    expect(whole.fault).toContain(fault);
  });

  it("distinguishes rows that are written alike on one page from a row on two pages", () => {
    expect(rowKeys(["a", "a", { id: "a" }])).toEqual(['1 "a"', '2 "a"', '1 {"id":"a"}']);
  });
});
