import {
  type Assumptions,
  type ListPage,
  ListReading,
  readTime,
  type TimeSpan,
  type UnreadableRow,
} from "@durable-payments/api-core";

/** Times that are written less exactly than this say nothing about the order of a list. */
const INSTANT_MS = 60_000;

/** Most pages of one reading: half a million rows. */
export const MOST_PAGES = 10_000;

/** An item of a list, as far as it is told from others. */
export interface ListedItem {
  readonly create_time?: string | undefined;
}

/** How a list is to be read. */
export interface ListToRead<Item> {
  /** The field that identifies an item. */
  readonly itemId: keyof Item;
  /** Reads one page, the largest that the service allows. */
  readonly read: (page_num: number) => Promise<ListPage<Item>>;
  /** What was created before is not wanted: milliseconds since 1970. */
  readonly from: number;
  /** What is wanted whenever it was created. */
  readonly isWanted: (item: Item) => boolean;
  readonly assumptions: Assumptions;
  /** Most pages of one reading. */
  readonly mostPages?: number;
}

/** What was read of a list. */
export interface ReadList<Item> {
  /** What is wanted, and what may have been created since, each id once, in the list's order. */
  readonly items: ReadonlyArray<Item>;
  /** Rows without an id that can be read, which may have been created since. */
  readonly unreadable: ReadonlyArray<UnreadableRow>;
  /** The ids of all that was read. */
  readonly ids: ReadonlySet<unknown>;
  readonly pages: number;
  /** Why it is no evidence of what it does not show, for now. */
  readonly fault?: string | undefined;
  /** Whether it is longer than what may be read of it. */
  readonly isTooLong: boolean;
}

/** Whether the rows read so far show that the list is newest first, so that older ones follow. */
class NewestFirst {
  #newest: number | undefined;
  #oldest = Number.POSITIVE_INFINITY;
  #isInOrder = true;

  note(span: TimeSpan | undefined): void {
    if (span === undefined) return;
    if (span.latest - span.earliest >= INSTANT_MS || span.latest > this.#oldest) {
      this.#isInOrder = false;
    }
    this.#newest ??= span.latest;
    this.#oldest = span.latest;
  }

  get isVerified(): boolean {
    return this.#isInOrder && this.#newest !== undefined && this.#newest > this.#oldest;
  }

  isPast(from: number): boolean {
    return this.isVerified && this.#oldest < from;
  }
}

/** Reads a list from its beginning: down to `from` where it is newest first, or else to its end. */
const readOnce = async <Item extends ListedItem>(
  list: ListToRead<Item>,
): Promise<ReadList<Item>> => {
  const { assumptions, from, isWanted, itemId, mostPages = MOST_PAGES, read } = list;
  const reading = new ListReading<Item>(itemId);
  const order = new NewestFirst();
  const items: Array<Item> = [];
  const unreadable: Array<UnreadableRow> = [];
  const ids = new Set<unknown>();
  const isOld = (span: TimeSpan | undefined) => span !== undefined && span.latest < from;
  for (let page_num = 1; ;) {
    const page = await read(page_num);
    const { fresh, nextPage, unreadable: odd } = reading.add(page);
    for (const item of page.item_list) order.note(readTime(item.create_time, assumptions));
    for (const item of fresh) {
      ids.add(item[itemId]);
      if (isWanted(item) || !isOld(readTime(item.create_time, assumptions))) items.push(item);
    }
    for (const row of odd) {
      const { create_time } = row.fields;
      const written = typeof create_time === "string" ? create_time : undefined;
      if (!isOld(readTime(written, assumptions))) unreadable.push(row);
    }
    const so = { items, unreadable, ids, pages: page_num };
    if (nextPage === undefined) {
      const fault = reading.faultAtEnd({ isNewestFirst: order.isVerified });
      return { ...so, fault, isTooLong: false };
    }
    if (order.isPast(from)) return { ...so, fault: reading.faultSoFar(), isTooLong: false };
    if (page_num >= mostPages) return { ...so, isTooLong: true };
    page_num = nextPage;
  }
};

/** Whether `later` shows all that `earlier` shows, and what it shows beside at its ends only. */
const isSameList = <Item>(
  earlier: ReadonlyArray<Item>,
  later: ReadonlyArray<Item>,
  itemId: keyof Item,
): boolean => {
  const known = new Set(earlier.map((item) => item[itemId]));
  const isKnown = later.map((item) => known.has(item[itemId]));
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
  const { isWanted, itemId } = list;
  const first = await readOnce(list);
  const isDecided = first.fault !== undefined || first.isTooLong || first.items.some(isWanted);
  if (first.pages === 1 || isDecided) return first;
  const second = await readOnce(list);
  if (second.fault !== undefined || second.isTooLong) return second;
  return isSameList(first.items, second.items, itemId)
    ? second
    : { ...second, fault: "two readings, one after the other, showed different items" };
};
