import type { Page, UnreadableRow } from "../contract/list-page.ts";

/** What one more page brought. */
export interface PageRead<Item> {
  /** Its items that were not listed before, each id once. */
  readonly fresh: ReadonlyArray<Item>;
  /** Its unreadable rows that were not listed before. */
  readonly unreadable: ReadonlyArray<UnreadableRow>;
  /** The page to read next; undefined where this was the last. */
  readonly nextPage: number | undefined;
}

/**
 * Make a key for each row, the same on whatever page it is listed.
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

/**
 * Check whether the pages read of a list are complete and consistent, so that "not listed" is
 * evidence. Add the pages in order, from the first; then ask for a fault.
 *
 * A list that shifts while it is read can hide an item from every page: one that is removed pulls
 * the next page's first item onto a page that has been read.
 */
export class ListReading<Item extends object> {
  readonly #itemId: keyof Item;
  readonly #pageSize: number;
  readonly #listed = new Set<unknown>();
  #pages = 0;
  #largestPage = 0;
  #firstTotal: number | undefined;
  #lastTotal: number | undefined;
  /** Rows with an id or unreadable ones, each once; ids that a page itself lists twice count twice. */
  #rows = 0;
  /** Rows that an earlier page listed, too. */
  #repeats = 0;
  #hasChanged = false;
  #hasFallen = false;
  #fault: string | undefined;

  /**
   * @param itemId The field that identifies an item: `payout_id`, say.
   * @param pageSize Where given, a page of so many rows is not the last one, whatever the totals
   *   say: they may count the page instead of the list.
   */
  constructor(itemId: keyof Item, pageSize = Number.POSITIVE_INFINITY) {
    this.#itemId = itemId;
    this.#pageSize = pageSize;
  }

  /**
   * Takes in the next page.
   *
   * @returns what is new in it, and which page to read next.
   */
  add({ item_list, total_item, total_page, unreadable }: Page<Item>): PageRead<Item> {
    this.#pages += 1;
    const rowsOfPage = item_list.length + unreadable.length;
    const isEmpty = rowsOfPage === 0;
    this.#noteTotals(total_item, total_page, isEmpty);
    const before = new Set(this.#listed);
    const isFresh = (key: unknown): boolean => {
      if (before.has(key)) {
        this.#repeats += 1;
        return false;
      }
      this.#rows += 1;
      return !this.#listed.has(key) && this.#listed.add(key) !== undefined;
    };
    const fresh = item_list.filter((item) => isFresh(item[this.#itemId]));
    const keys = rowKeys(unreadable.map(({ fields }) => fields));
    const odd = unreadable.filter((_, index) => isFresh(keys[index]));
    const isNothingNew = fresh.length + odd.length === 0;
    this.#largestPage = Math.max(this.#largestPage, rowsOfPage);
    const isLastByTotals =
      total_page === undefined
        ? isNothingNew || (total_item !== undefined && this.#rows >= total_item)
        : this.#pages >= total_page &&
          // Pages may be counted at the size that was asked for, and be smaller.
          (isNothingNew || total_page * this.#largestPage >= (total_item ?? 0));
    const isLast = isEmpty || (isLastByTotals && (isNothingNew || rowsOfPage < this.#pageSize));
    return { fresh, unreadable: odd, nextPage: isLast ? undefined : this.#pages + 1 };
  }

  /** Why a page by itself is no evidence: it has no totals, or no items where it should have some. */
  get pageFault(): string | undefined {
    return this.#fault;
  }

  /**
   * Why the list, read to its end, is no evidence of what it does not show. In a list that is
   * known to show the newest first, items that were added while it was read are no fault: all
   * that it held at the beginning was read.
   *
   * @returns undefined where it adds up.
   */
  faultAtEnd({ isNewestFirst = false }: { readonly isNewestFirst?: boolean } = {}):
    | string
    | undefined {
    if (this.#fault !== undefined) return this.#fault;
    if (isNewestFirst && this.#hasChanged) return this.#unlessAllOfTheFirst();
    if (this.#hasChanged) return "total_item changed while the pages were read";
    return this.#rows === this.#lastTotal
      ? undefined
      : `${this.#rows} items were listed, total_item is ${this.#lastTotal}`;
  }

  /**
   * Why the pages read so far, of a list that is known to show the newest first, may have left
   * out items newer than the last one read. Without that order nothing but the end is evidence.
   *
   * @returns undefined where they add up.
   */
  faultSoFar(): string | undefined {
    if (this.#fault !== undefined) return this.#fault;
    // What is added at the head pushes as many items onto the next page; else items were removed.
    return this.#lastTotal === (this.#firstTotal ?? 0) + this.#repeats
      ? undefined
      : "total_item changed while the pages were read";
  }

  /**
   * Whether items may have been added while the list was read, and all that it held at the beginning
   * was read: enough for showing a list, and no evidence unless the order is known.
   */
  get hasOnlyGrown(): boolean {
    return (
      this.#fault === undefined && !this.#hasFallen && this.#unlessAllOfTheFirst() === undefined
    );
  }

  #noteTotals(total: number | undefined, pages: number | undefined, isEmpty: boolean): void {
    if (total === undefined || pages === undefined) {
      this.#fault ??= `page ${this.#pages} does not say how many items and pages there are`;
    }
    if (isEmpty && total !== undefined && total > 0 && this.#pages <= Math.max(1, pages ?? 1)) {
      this.#fault ??= `page ${this.#pages} of ${pages ?? "?"} has no items, total_item is ${total}`;
    }
    if (this.#pages === 1) this.#firstTotal = total;
    else if (total !== this.#lastTotal) {
      this.#hasChanged = true;
      this.#hasFallen ||= (total ?? 0) < (this.#lastTotal ?? 0);
    }
    this.#lastTotal = total;
  }

  #unlessAllOfTheFirst(): string | undefined {
    const first = this.#firstTotal ?? 0;
    return this.#rows >= first
      ? undefined
      : `${this.#rows} items were listed, total_item was ${first} at first`;
  }
}
