import {
  type Page,
  ListReading,
  readTime,
  rowKeys,
  type UnreadableRow,
} from "@durable-payments/api-core";
import { NewestFirst } from "./list-order.ts";
import {
  type KeptPage,
  ListedItems,
  type ListedItem,
  type SearchCriteria,
} from "./listed-items.ts";
import { WholeList } from "./whole-list.ts";

/** Most pages that are kept for another worker: what a heartbeat carries is bounded. */
const MOST_KEPT_PAGES = 50;

/** Most items that are kept with them. */
const MOST_KEPT_ITEMS = 200;

/** Most readings of a whole list, before it is read anew later. */
const MOST_READINGS = 3;

/** How often the second reading goes back to the first page, to catch up with what is added. */
const MOST_RETURNS = 3;

/** The first pages that were read, in the order in which they were, for a worker that goes on. */
export type KeptPages<Item> = ReadonlyArray<KeptPage<Item>>;

/** How a list is to be read. */
export interface ListToRead<Item> extends SearchCriteria<Item> {
  /** Rows of a page that is not the last. */
  readonly pageSize: number;
  /** Reads one page, the largest that the service allows. */
  readonly read: (page_num: number) => Promise<Page<Item>>;
  /** Whether an item that was created since may match. */
  readonly mayBe: (item: Item) => boolean;
  /** What another worker has read. */
  readonly kept: KeptPages<Item>;
  /** Keeps what was read so far; called after each page. */
  readonly keep: (pages: KeptPages<Item>) => void;
  /** When to read no further: milliseconds since 1970. */
  readonly until: number;
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

/** Asks for a page; those that another worker has read are not asked for again. */
type NextPage<Item> = (page_num: number) => Promise<KeptPage<Item>>;

/** Pages one after the other, each kept for another worker. */
const pagesOf = <Item extends ListedItem>({
  idOf,
  isOurs,
  keep,
  kept,
  mayBe,
  read,
}: ListToRead<Item>): NextPage<Item> => {
  const toKeep = [...kept];
  let pages = 0;
  let items = 0;
  return async (page_num) => {
    const known = kept[pages];
    pages += 1;
    if (known !== undefined) {
      items += known.items.length;
      return known;
    }
    const { item_list, ...totals } = await read(page_num);
    const page: KeptPage<Item> = {
      ...totals,
      rows: item_list.map((item) => ({ id: idOf(item), create_time: item.create_time })),
      items: item_list.filter((item) => isOurs(item) || mayBe(item)),
    };
    items += page.items.length;
    // One that is left out ends what is kept: how pages follow each other in time is evidence.
    const isNext = toKeep.length === pages - 1;
    if (isNext && pages <= MOST_KEPT_PAGES && items <= MOST_KEPT_ITEMS) toKeep.push(page);
    keep([...toKeep]);
    return page;
  };
};

/** Why a reading stopped before the end of the list. */
type Stop = "ours" | "tooLong" | "proved" | "behind" | "past" | "otherOrder";

/** One reading of a list. */
interface Reading<Item extends ListedItem> {
  readonly list: ListToRead<Item>;
  readonly next: NextPage<Item>;
  readonly listed: ListedItems<Item>;
  readonly pages: ListReading<KeptPage<Item>["rows"][number]>;
  /** Decides after each page whether the reading stops there. */
  readonly stopAfter: (page: KeptPage<Item>, isLast: boolean) => Stop | undefined;
}

const readingOf = <Item extends ListedItem>({
  pageSize,
}: ListToRead<Item>): Reading<Item>["pages"] => new ListReading("id", pageSize);

/** Reads a list from its first page, until it ends or is to be read no further. */
const readOnce = async <Item extends ListedItem>({
  list: { assumptions, until },
  listed,
  next,
  pages,
  stopAfter,
}: Reading<Item>): Promise<Stop | undefined> => {
  for (let page_num: number | undefined = 1; page_num !== undefined;) {
    if (page_num > assumptions.reconciliationMaxPages || Date.now() > until) return "tooLong";
    const page = await next(page_num);
    const { nextPage } = pages.add({ ...page, item_list: page.rows });
    const isFound = listed.add(page);
    if (isFound && nextPage !== undefined) return "ours";
    const stop = stopAfter(page, nextPage === undefined);
    if (stop !== undefined) return stop;
    page_num = nextPage;
  }
  return undefined;
};

const result = <Item extends ListedItem>(
  { ids, items, unreadable }: ListedItems<Item>,
  stop: Stop | undefined,
  fault: string | undefined,
): ReadList<Item> => {
  const shown = { ids, items, unreadable };
  if (stop === "tooLong") return { ...shown, isTooLong: true };
  return stop === "ours"
    ? { ...shown, fault: "it was read no further than to what was sent", isTooLong: false }
    : { ...shown, fault, isTooLong: false };
};

/** What a reading of a whole list adds to those before it. */
interface WholeReading<Item extends ListedItem> extends Omit<Reading<Item>, "stopAfter"> {
  readonly whole: WholeList;
  /** The how-manieth reading it is. */
  readonly number: number;
  /** Whether it may stop to begin anew, behind what is added while it is read. */
  readonly mayReturn: boolean;
}

const readWholeOnce = <Item extends ListedItem>({
  mayReturn,
  number,
  whole,
  ...reading
}: WholeReading<Item>): Promise<Stop | undefined> => {
  let hasNew = false;
  return readOnce({
    ...reading,
    stopAfter: ({ rows, total_item, unreadable }, isLast) => {
      const fields = unreadable.map((row) => row.fields);
      const keys = rowKeys([...rows.map(({ id }) => id), ...fields]);
      const isKnown = whole.add({ keys, total_item }) === 0;
      if (number === MOST_READINGS && whole.isProved) return "proved";
      // Past what was added since the first reading, while more was added before that: what a list
      // gets at its beginning is caught up with from its beginning.
      const isBehind = hasNew && isKnown && !isLast && !whole.isCounted;
      hasNew ||= !isKnown;
      return isBehind && mayReturn ? "behind" : undefined;
    },
  });
};

/** Reads a list to its end, whatever its order, until all that it holds is proved to be known. */
const readWhole = async <Item extends ListedItem>(
  list: ListToRead<Item>,
  next: NextPage<Item>,
): Promise<ReadList<Item>> => {
  const listed = new ListedItems(list);
  const whole = new WholeList();
  let returns = 0;
  for (let number = 1; ;) {
    const pages = readingOf(list);
    const mayReturn = number === 2 && returns < MOST_RETURNS;
    const stop = await readWholeOnce({ list, next, listed, pages, whole, number, mayReturn });
    if (stop === "behind") {
      returns += 1;
      continue;
    }
    // One reading is enough where all was on one page, and the pages after it say so, too.
    const isOver =
      number === 1
        ? whole.isProved && pages.faultAtEnd() === undefined
        : whole.isProved || !whole.isCounted || number === MOST_READINGS;
    const isStopped = stop === "ours" || stop === "tooLong" || listed.hasOurs;
    const isBroken = pages.pageFault !== undefined || whole.isBroken;
    if (isOver || isStopped || isBroken) {
      return result(listed, stop, pages.pageFault ?? whole.fault ?? listed.fault);
    }
    number += 1;
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
 * Reads a list that is assumed to be newest first, down to what was created before `from`; one of
 * several pages twice, and it is evidence only where both readings show the same.
 *
 * @returns undefined where its rows are in another order.
 */
const readNewest = async <Item extends ListedItem>(
  list: ListToRead<Item>,
  next: NextPage<Item>,
): Promise<ReadList<Item> | undefined> => {
  const listed = new ListedItems(list);
  let earlier: ReadonlyArray<string> | undefined;
  for (;;) {
    const pages = readingOf(list);
    const shown = new ListedItems(list);
    const order = new NewestFirst();
    let read = 0;
    const stop = await readOnce({
      list,
      next,
      listed,
      pages,
      stopAfter: (page, isLast) => {
        read += 1;
        shown.add(page);
        for (const { create_time } of page.rows) {
          order.note(readTime(create_time, list.assumptions));
        }
        if (!order.isInOrder) return "otherOrder";
        return !isLast && order.isPast(list.from) ? "past" : undefined;
      },
    });
    if (stop === "otherOrder") return undefined;
    const fault =
      stop === "past" ? pages.faultSoFar() : pages.faultAtEnd({ isNewestFirst: order.isVerified });
    const isStopped = stop === "ours" || stop === "tooLong" || listed.hasOurs;
    if (read === 1 || fault !== undefined || isStopped) return result(listed, stop, fault);
    if (earlier !== undefined) {
      return result(
        listed,
        stop,
        isSameList(earlier, shown.recent)
          ? listed.fault
          : "two readings, one after the other, showed different items",
      );
    }
    earlier = shown.recent;
  }
};

/**
 * Read what a list shows of the time since `from`: to its end, as nobody knows the order of a list
 * by the pages read so far. Only where lists are assumed to be newest first, and as long as the rows
 * bear it out, it is read down to that time.
 */
export const readList = async <Item extends ListedItem>(
  list: ListToRead<Item>,
): Promise<ReadList<Item>> => {
  const next = pagesOf(list);
  const newest = list.assumptions.listsAreNewestFirst ? await readNewest(list, next) : undefined;
  return newest ?? readWhole(list, next);
};
