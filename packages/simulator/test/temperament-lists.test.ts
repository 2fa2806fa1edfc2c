import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator, type Temperament } from "../src/index.ts";
import { type Client, signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createCardholder, createPayout } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
let beneficiary_id: string;
beforeEach(async () => {
  simulator = await startSimulator({ settleAfter: Infinity, verifyAfter: Infinity });
  client = await signedIn(simulator);
  beneficiary_id = await createBeneficiary(client);
});
afterEach(() => simulator.stop());

/** The machine may be busy. */
const LONG = { timeout: 120_000 };

const pay = async (changes = {}) =>
  (await createPayout(client, beneficiary_id, changes)).body.data.id;
const payTimes = async (count: number) => {
  const ids: Array<string> = [];
  for (let made = 0; made < count; made++) ids.push(await pay());
  return ids;
};
const page = async (page_num = 1, page_size = 50) =>
  (await client.get(`/api/v1/payouts?page_num=${page_num}&page_size=${page_size}`)).body.data;
const ids = async (page_num = 1, page_size = 50) =>
  (await page(page_num, page_size)).item_list.map(({ payout_id }) => payout_id);
const set = (temperament: Temperament) => simulator.setTemperament(temperament);

describe("list lag", () => {
  it("keeps new payouts and cardholders out of their lists and totals until it is over", async () => {
    await set({ listLagMs: 2_000 });
    const [id] = await payTimes(1);
    await createCardholder(client);
    expect(await page()).toEqual({ total_item: 0, total_page: 0, item_list: [] });
    const cardholders = () => client.get("/api/v1/cardholders?page_num=1&page_size=50");
    expect((await cardholders()).body.data.total_item).toBe(0);
    const read = await client.get(`/api/v1/payouts/${id}/retrieve`);
    expect(read.body.data.payout_id).toBe(id);
    expect((await simulator.state()).payouts).toHaveLength(1);
    await expect.poll(() => ids(), LONG).toEqual([id]);
    await expect.poll(async () => (await cardholders()).body.data.total_item, LONG).toBe(1);
  });

  it("by row: one that is younger shows before one that is older", async () => {
    const made = await payTimes(12);
    await set({ listLagMs: 1500, listLagBy: "row" });
    await expect
      .poll(
        async () => {
          const shown = new Set(await ids());
          return made.some(
            (id, at) => !shown.has(id) && made.slice(at + 1).some((younger) => shown.has(younger)),
          );
        },
        { ...LONG, interval: 20 },
      )
      .toBe(true);
    await expect.poll(async () => (await ids()).length, LONG).toBe(12);
  });

  it("by page: a page may know less than the page before it", async () => {
    await payTimes(6);
    await set({ listLagMs: 1500, listLagBy: "page" });
    await expect
      .poll(
        async () => {
          const totals: Array<number> = [];
          for (const each of [1, 2, 3, 4, 5]) totals.push((await page(each, 1)).total_item);
          return totals.some((total, at) => total < (totals[at - 1] ?? 0));
        },
        { ...LONG, interval: 20 },
      )
      .toBe(true);
  });
});

it("oldest first", async () => {
  const made = await payTimes(3);
  expect(await ids()).toEqual(made.toReversed());
  await set({ oldestFirst: true });
  expect(await ids()).toEqual(made);
  expect(await ids(2, 2)).toEqual(made.slice(2));
});

it("rows shift before a later page: one is skipped or shown again, and the total shows it", async () => {
  const made = (await payTimes(6)).toReversed();
  await set({ shiftingPages: 1 });
  expect(await ids(1, 2)).toEqual(made.slice(0, 2));
  const seen = new Map<number, ReadonlyArray<string>>();
  await expect
    .poll(async () => {
      const { item_list, total_item } = await page(2, 2);
      seen.set(
        total_item,
        item_list.map(({ payout_id }) => payout_id),
      );
      return [...seen].sort(([a], [b]) => a - b);
    }, LONG)
    .toEqual([
      [5, made.slice(3, 5)],
      [7, made.slice(1, 3)],
    ]);
});

it.each([
  [true, 3],
  [false, 2],
])("a row is omitted; counted: %j", async (omittedRowsCounted, total_item) => {
  const made = await payTimes(3);
  await set({ omittedRows: 1, omittedRowsCounted });
  const shown = await page();
  expect([shown.item_list.length, shown.total_item]).toEqual([2, total_item]);
  await set({});
  expect(await ids()).toEqual(made.toReversed());
});

it("a full page lacks the row that is omitted and counted, and the next one begins where it did", async () => {
  const made = (await payTimes(4)).toReversed();
  await set({ omittedRows: 1 });
  expect((await page(1, 2)).item_list).toHaveLength(1);
  expect(made.slice(0, 2)).toContain((await ids(1, 2))[0]);
  await set({});
  expect(await ids(2, 2)).toEqual(made.slice(2));
});

it("a row is listed and counted twice", async () => {
  const made = await payTimes(3);
  await set({ duplicateRows: 1 });
  const { item_list, total_item } = await page();
  expect([item_list.length, total_item]).toEqual([4, 4]);
  expect(new Set(item_list.map(({ payout_id }) => payout_id))).toEqual(new Set(made));
});

describe("odd rows", () => {
  const rowOf = async (temperament: Temperament) => {
    const id = await pay();
    await set({ oddRows: 1, ...temperament });
    const row: unknown = (await page()).item_list[0];
    return { id, row };
  };

  it("nulls: the id and nothing else", async () => {
    const { id, row } = await rowOf({ oddRowForm: "nulls" });
    expect(row).toMatchObject({ payout_id: id, amount: null, create_time: null });
  });

  it("odd: other JSON types in every field but the id", async () => {
    const { id, row } = await rowOf({ oddRowForm: "odd" });
    const fields = row as Record<string, unknown>;
    expect(fields["payout_id"]).toBe(id);
    const others = Object.entries(fields).filter(([name]) => name !== "payout_id");
    expect(others.filter(([, value]) => typeof value === "string")).toEqual([]);
    expect(others.length).toBeGreaterThan(10);
  });

  it.each(["nulls-but-status", "odd-but-status"] as const)(
    "%s: the id and the status as they are, and nothing else",
    async (oddRowForm) => {
      const { id, row } = await rowOf({ oddRowForm });
      const texts = Object.entries(row ?? {}).filter(([, value]) => typeof value === "string");
      expect(Object.fromEntries(texts)).toMatchObject({ payout_id: id });
      expect(texts.map(([name]) => name).toSorted()).toEqual(["payout_id", "payout_status"]);
    },
  );

  it("no-id, null, text: rows that name no payout", async () => {
    const { row } = await rowOf({ oddRowForm: "no-id" });
    expect(row).toMatchObject({ payout_id: null, amount: "12.50" });
    expect((await rowOf({ oddRowForm: "null" })).row).toBeNull();
    expect((await rowOf({ oddRowForm: "text" })).row).toBe("row could not be rendered");
  });

  it("are always the same rows, and a share of them", async () => {
    await payTimes(40);
    await set({ oddRows: 0.3 });
    const odd = async () =>
      (await page()).item_list
        .filter(({ amount }) => amount === null)
        .map(({ payout_id }) => payout_id);
    const first = await odd();
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(40);
    expect(await odd()).toEqual(first);
  });
});

it("totals as text, and missing", async () => {
  await pay();
  await set({ totals: "text" });
  expect(await page()).toMatchObject({ total_item: "1", total_page: "1" });
  await set({ totals: "missing" });
  expect(Object.keys(await page())).toEqual(["item_list"]);
});

it("item_list null, with the totals as they are", async () => {
  await pay();
  await set({ nullLists: 1 });
  expect(await page()).toEqual({ total_item: 1, total_page: 1, item_list: null });
});

it("texts as the list's storage has them, in lists alone", async () => {
  const payout_reference = "  Straße   Ⅳ ";
  const id = await pay({ payout_reference });
  const listed = async (texts: NonNullable<Temperament["texts"]>) => {
    await set({ texts });
    const row: unknown = (await page()).item_list[0];
    return (row as Record<string, string>)["payout_reference"];
  };
  expect(await listed("as-given")).toBe(payout_reference);
  expect(await listed("upper")).toBe("  STRASSE   Ⅳ ");
  expect(await listed("trimmed")).toBe("Straße   Ⅳ");
  expect(await listed("squeezed")).toBe(" Straße Ⅳ ");
  expect(await listed("nfkc")).toBe("  Straße   IV ");
  expect(await listed("all")).toBe("STRASSE IV");
  const { text } = await client.get(`/api/v1/payouts/${id}/retrieve`);
  expect(text).toContain(JSON.stringify(payout_reference));
  expect((await simulator.state()).payouts[0]!.payout_reference).toBe(payout_reference);
});
