import {
  type Assumptions,
  type ListPage,
  ListReading,
  readTime,
  type UnreadableRow,
} from "@durable-payments/api-core";
import { NewestFirst } from "./list-order.ts";

/** Most pages of one reading: half a million rows. */
const MOST_PAGES = 10_000;

/** Most pages that are kept for another worker: what a heartbeat carries is bounded. */
const MOST_KEPT_PAGES = 50;

/** Most items that are kept with them. */
const MOST_KEPT_ITEMS = 200;

/** An item of a list, as far as every list shows it. */
export interface ListedItem {
  readonly create_time?: string | undefined;
}

/** What is kept of a page. */
interface KeptPage<Item> extends Pick<ListPage<Item>, "total_item" | "total_page" | "unreadable"> {
  readonly rows: ReadonlyArray<{ readonly id: string; readonly create_time?: string | undefined }>;
  /** Those of its items that may be what is looked for. */
  readonly items: ReadonlyArray<Item>;
}

/** What was read so far, by reading and page, for a worker that goes on where another was lost. */
export type KeptPages<Item> = ReadonlyArray<ReadonlyArray<KeptPage<Item>>>;

/** How a list is to be read. */
export interface ListToRead<Item> {
  readonly idOf: (item: Item) => string;
  /** Rows of a page that is not the last. */
  readonly pageSize: number;
  /** Reads one page, the largest that the service allows. */
  readonly read: (page_num: number) => Promise<ListPage<Item>>;
  /** What was created before does not matter: milliseconds since 1970. */
  readonly from: number;
  /** Whether an item is wanted whenever it was created; it ends the search. */
  readonly isOurs: (item: Item) => boolean;
  /** Whether an item that was created since may be what is looked for. */
  readonly mayBe: (item: Item) => boolean;
  readonly assumptions: Assumptions;
  /** What another worker has read. */
  readonly kept: KeptPages<Item>;
  /** Keeps what was read so far; called after each page. */
  readonly keep: (pages: KeptPages<Item>) => void;
  /** Most pages of one reading, default 10,000. */
  readonly mostPages?: number;
}

/** What was read of a list. */
export interface ReadList<Item> {
  /** What is ours, and what may be and was created since, each id once. */
  readonly items: ReadonlyArray<Item>;
  /** Rows without an id that can be read, which may have been created since. */
  readonly unreadable: ReadonlyArray<UnreadableRow>;
  /** The ids of all that was read. */
  readonly ids: ReadonlySet<string>;
  /** Why it is no evidence of what it does not show, for now. */
  readonly fault?: string | undefined;
  /** Whether it is longer than what may be read of it. */
  readonly isTooLong: boolean;
}

/** One reading of a list. */
interface Reading<Item> extends ReadList<Item> {
  readonly pages: number;
  /** The ids of what may have been created since, in the list's order. */
  readonly recent: ReadonlyArray<string>;
}

/** Reads a page, and keeps of it what matters. */
const readPage = async <Item extends ListedItem>(
  { idOf, isOurs, mayBe, read }: ListToRead<Item>,
  page_num: number,
): Promise<KeptPage<Item>> => {
  const { item_list, ...page } = await read(page_num);
  return {
    ...page,
    rows: item_list.map((item) => ({ id: idOf(item), create_time: item.create_time })),
    items: item_list.filter((item) => isOurs(item) || mayBe(item)),
  };
};

/** Reads a list from its beginning: down to `from` where it is newest first, or else to its end. */
const readOnce = async <Item extends ListedItem>(
  list: ListToRead<Item>,
  kept: ReadonlyArray<KeptPage<Item>>,
  keep: (pages: ReadonlyArray<KeptPage<Item>>) => void,
): Promise<Reading<Item>> => {
  const { assumptions, from, idOf, isOurs, mostPages = MOST_PAGES, pageSize } = list;
  const reading = new ListReading<KeptPage<Item>["rows"][number]>("id", pageSize);
  const order = new NewestFirst();
  const items = new Map<string, Item>();
  const unreadable: Array<UnreadableRow> = [];
  const ids = new Set<string>();
  const recent: Array<string> = [];
  const toKeep = [...kept];
  const isOld = (time: unknown): boolean => {
    const span = typeof time === "string" ? readTime(time, assumptions) : undefined;
    return span !== undefined && span.latest < from;
  };
  for (let page_num = 1; ;) {
    const page = toKeep[page_num - 1] ?? (await readPage(list, page_num));
    const { fresh, nextPage, unreadable: odd } = reading.add({ ...page, item_list: page.rows });
    for (const { create_time } of page.rows) order.note(readTime(create_time, assumptions));
    for (const { create_time, id } of fresh) {
      ids.add(id);
      if (!isOld(create_time)) recent.push(id);
    }
    for (const item of page.items) {
      if (isOurs(item) || !isOld(item.create_time)) items.set(idOf(item), item);
    }
    unreadable.push(...odd.filter(({ fields }) => !isOld(fields["create_time"])));
    if (page_num <= MOST_KEPT_PAGES && items.size <= MOST_KEPT_ITEMS) toKeep[page_num - 1] = page;
    keep([...toKeep]);
    const read = { items: [...items.values()], unreadable, ids, recent, pages: page_num };
    if (nextPage === undefined) {
      const fault = reading.faultAtEnd({ isNewestFirst: order.isVerified });
      return { ...read, fault, isTooLong: false };
    }
    if (order.isPast(from)) return { ...read, fault: reading.faultSoFar(), isTooLong: false };
    if (page_num >= mostPages) return { ...read, isTooLong: true };
    page_num = nextPage;
  }
};

/** Whether `later` shows all that `earlier` shows, and what it shows beside at its ends only. */
const isSameList = (earlier: ReadonlyArray<string>, later: ReadonlyArray<string>): boolean => {
  const known = new Set(earlier);
  const isKnown = later.map((id) => known.has(id));
  const between = isKnown.slice(isKnown.indexOf(true), isKnown.lastIndexOf(true) + 1);
  return isKnown.filter(Boolean).length === known.size && !between.includes(false);
};

/**
 * Reads what a list shows of the time since `from`. A list of several pages can shift while it is
 * read, and hide an item from every page: it is read twice, and is evidence only where both readings
 * show the same.
 */
export const readList = async <Item extends ListedItem>(
  list: ListToRead<Item>,
): Promise<ReadList<Item>> => {
  const { idOf, isOurs, keep, kept } = list;
  const [firstKept = [], secondKept = []] = kept;
  let beforehand = firstKept;
  const first = await readOnce(list, firstKept, (pages) => {
    beforehand = pages;
    keep([pages, secondKept]);
  });
  const isDecided = first.fault !== undefined || first.isTooLong || first.items.some(isOurs);
  if (first.pages === 1 || isDecided) return first;
  const second = await readOnce(list, secondKept, (pages) => keep([beforehand, pages]));
  const inSecond = new Set(second.items.map(idOf));
  const items = [...second.items, ...first.items.filter((item) => !inSecond.has(idOf(item)))];
  if (second.fault !== undefined || second.isTooLong) return { ...second, items };
  return isSameList(first.recent, second.recent)
    ? second
    : { ...second, items, fault: "two readings, one after the other, showed different items" };
};
