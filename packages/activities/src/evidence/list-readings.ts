/*
 * Reads the lists of the service once for all who search them.
 *
 * Many writes may become unknown at the same moment, and each needs the whole list, read after its own send. A reading
 * for each would use up the rate of the account. So searches that wait share the next reading; none uses an earlier
 * reading.
 */
import type { Page, UnreadableRow } from "@durable-payments/client/effect";
import { isRefusedRead, withReason } from "../write/outcomes.ts";
import { WholeList } from "./whole-list.ts";

/** The largest page of both lists. */
export const PAGE_SIZE = 50;

/** Most readings of a whole list, before it is read again later. */
const MOST_READINGS = 3;

/** How often the second reading returns to the first page, to catch up with additions. */
const MOST_RETURNS = 3;

/** Statuses above this may be a gateway's, about the moment and not about the page. */
const MOST_OWN_STATUS = 501;

/**
 * Returns a key for each row, the same on every page.
 *
 * @param rows of one page; a row that the page lists twice gets two keys
 */
export const rowKeys = (rows: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const written = JSON.stringify(row);
    const nth = (counts.get(written) ?? 0) + 1;
    counts.set(written, nth);
    return `${nth} ${written}`;
  });
};

/** A list of the service. */
export interface ListSource<Item extends object> {
  readonly idField: keyof Item & string;
  /** Rows of a page that is not the last. */
  readonly pageSize: number;
  readonly mostPages: number;
  readonly read: (page_num: number) => Promise<Page<Item>>;
  /** Why a page is not of this list; undefined if it is. */
  readonly faultOf?: (page: Page<Item>) => string | undefined;
}

/** The result of a reading. */
export interface ListRead<Item extends object, Source = ListSource<Item>> {
  readonly source: Source;
  /** Each id once, as last shown. */
  readonly items: ReadonlyArray<Item>;
  readonly unreadable: ReadonlyArray<UnreadableRow>;
  /** The reason why a missing row proves nothing. */
  readonly fault: string | undefined;
  /** Whether that reason is its length. */
  readonly isTooLong: boolean;
  /** Whether that reason is a page that could not be read, or is not of the list. */
  readonly isRefused: boolean;
  /** How many rows the list has, by the page that was read last. */
  readonly total: number;
}

/** A caller that waits for a reading. */
interface Reader<Item extends object, Source, Need = unknown> extends PromiseWithResolvers<
  ListRead<Item, Source>
> {
  readonly isWanted: (item: Item) => boolean;
  readonly need: Need;
}

/** The rows of a reading so far, and its callers. */
class Reading<Item extends object, Source extends ListSource<Item>> {
  readonly #source: Source;
  readonly #readers: Set<Reader<Item, Source>>;
  readonly #items = new Map<string, Item>();
  readonly #unreadable = new Map<string, UnreadableRow>();
  /** The reason why a page could not be read, or is not of the list. */
  #refusal: string | undefined;
  #isTooLong = false;
  readonly #whole = new WholeList();

  constructor(source: Source, readers: ReadonlyArray<Reader<Item, Source>>) {
    this.#source = source;
    this.#readers = new Set(readers);
  }

  async run(): Promise<void> {
    const fault = await this.#readWhole();
    this.#settle(this.#readers, fault);
  }

  #settle(readers: Iterable<Reader<Item, Source>>, fault: string | undefined): void {
    const read = {
      source: this.#source,
      items: [...this.#items.values()],
      unreadable: [...this.#unreadable.values()],
      fault,
      isTooLong: this.#isTooLong,
      isRefused: this.#refusal !== undefined,
      total: this.#whole.total,
    };
    for (const reader of readers) {
      this.#readers.delete(reader);
      reader.resolve(read);
    }
  }

  /** @returns the keys of its rows. */
  #add({ item_list, unreadable }: Page<Item>): ReadonlyArray<string> {
    const fields = unreadable.map((row) => row.fields);
    for (const item of item_list) this.#items.set(this.#idOf(item), item);
    for (const [i, key] of rowKeys(fields).entries()) {
      const row = unreadable[i];
      if (row !== undefined) this.#unreadable.set(key, row);
    }
    // A reader that has found its row waits no longer.
    const found = [...this.#readers].filter(({ isWanted }) => item_list.some(isWanted));
    this.#settle(found, "it was read only up to our row");
    return rowKeys([...item_list.map((item) => this.#idOf(item)), ...fields]);
  }

  #idOf(item: Item): string {
    return String(item[this.#source.idField]);
  }

  /** Reads the list to its end, in any order, until all its rows are proved to be known. */
  async #readWhole(): Promise<string | undefined> {
    const whole = this.#whole;
    let returns = 0;
    for (let number = 1; ;) {
      const mayReturn = number === 2 && returns < MOST_RETURNS;
      const stop = await this.#readOnce(whole, number, mayReturn);
      if (this.#readers.size === 0 || this.#refusal !== undefined) return this.#refusal;
      if (stop === "behind") {
        returns += 1;
        continue;
      }
      if (stop === "tooLong") {
        this.#isTooLong = true;
        return `it has more than ${this.#source.mostPages} pages`;
      }
      // One reading is enough if it proves the whole list; further ones help as long as rows are counted.
      const isLast = number > 1 && (!whole.isCounted || number === MOST_READINGS);
      if (isLast || whole.isProved || whole.isBroken) return whole.fault;
      number += 1;
    }
  }

  /**
   * Reads a page; undefined if the service answers it with an error.
   *
   * @param isBeyond whether it comes after all pages that the list says that it has: then the totals are believed.
   */
  async #readPage(number: number, isBeyond: boolean) {
    try {
      return await this.#source.read(number);
    } catch (error) {
      if (!isRefusedRead(error, isBeyond ? MOST_OWN_STATUS : undefined)) throw error;
      if (!isBeyond) this.#refusal = `page ${number} could not be read: ${withReason(error)}`;
      return undefined;
    }
  }

  /**
   * Reads pages until a page shows nothing new, or a page that is not full is the last by all totals. A full page is
   * never the last by its totals: they may count the page instead of the list.
   */
  async #readOnce(
    whole: WholeList,
    number: number,
    mayReturn: boolean,
  ): Promise<"behind" | "tooLong" | undefined> {
    const { mostPages, pageSize } = this.#source;
    const listed = new Set<string>();
    let pages = Number.POSITIVE_INFINITY;
    let hasNew = false;
    for (let page_num = 1; page_num <= mostPages; page_num++) {
      const page = await this.#readPage(page_num, page_num > pages);
      if (page === undefined) return undefined;
      const keys = this.#add(page);
      this.#refusal ??= this.#source.faultOf?.(page);
      if (this.#readers.size === 0 || this.#refusal !== undefined) return undefined;
      const { total_item, total_page } = page;
      const isKnown = whole.add({ keys, total_item }) === 0;
      if (number === MOST_READINGS && whole.isProved) return undefined;
      pages = total_page ?? Number.POSITIVE_INFINITY;
      const before = listed.size;
      for (const key of keys) listed.add(key);
      const isLast = page_num >= pages && listed.size >= (total_item ?? 0);
      if (listed.size === before || (isLast && keys.length < pageSize)) return undefined;
      // The reading has passed the additions since the first reading, but more were added at the beginning of the list:
      // read from the beginning again.
      if (hasNew && isKnown && !whole.isCounted && mayReturn) return "behind";
      hasNew ||= !isKnown;
    }
    return "tooLong";
  }
}

/**
 * Shares readings of one list of one account. A reader gets a reading that began after its request. It never joins a
 * reading in progress; all requests in that time share the next one.
 */
export class ListReadings<
  Item extends object,
  Source extends ListSource<Item> = ListSource<Item>,
  Need = void,
> {
  readonly #open: (needs: ReadonlyArray<Need>) => Source | Promise<Source>;
  #waiting: Array<Reader<Item, Source, Need>> = [];
  #isReading = false;

  /** @param open returns the list that serves all who share the next reading. */
  constructor(open: (needs: ReadonlyArray<Need>) => Source | Promise<Source>) {
    this.#open = open;
  }

  /** Reads the list. A page that shows an item that is wanted ends the reading for this reader. */
  read(isWanted: (item: Item) => boolean, need: Need): Promise<ListRead<Item, Source>> {
    const read = Promise.withResolvers<ListRead<Item, Source>>();
    this.#waiting.push({ isWanted, need, ...read });
    if (!this.#isReading) void this.#readOn();
    return read.promise;
  }

  async #readOn(): Promise<void> {
    this.#isReading = true;
    // Requests of the same turn share the reading.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const readers = this.#waiting;
      this.#waiting = [];
      try {
        const source = await this.#open(readers.map(({ need }) => need));
        await new Reading(source, readers).run();
      } catch (error) {
        for (const { reject } of readers) reject(error);
      }
    }
    this.#isReading = false;
  }
}
