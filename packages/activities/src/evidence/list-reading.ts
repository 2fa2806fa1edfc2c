import type { Page } from "@durable-payments/api-core";

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

/**
 * Finds the end of a list that is read page by page, and pages that are not usable as evidence. Whether the pages are
 * the whole list, `WholeList` says. Add the pages in order, from the first.
 */
export class ListReading<Item extends object> {
  readonly #itemId: keyof Item;
  readonly #pageSize: number;
  readonly #listed = new Set<unknown>();
  #pages = 0;
  #largestPage = 0;
  #totalPages: number | undefined;
  /** Rows, each once; a row that one page lists twice counts twice. */
  #rows = 0;
  #fault: string | undefined;

  /**
   * @param itemId The field that identifies an item: `payout_id`, say.
   * @param pageSize A page of this size is not the last one, even if the totals say so: they may count the page instead of
   *   the list.
   */
  constructor(itemId: keyof Item, pageSize: number) {
    this.#itemId = itemId;
    this.#pageSize = pageSize;
  }

  /** Takes in the next page, and returns the number of the page to read next; undefined after the last. */
  add({ item_list, total_item, total_page, unreadable }: Page<Item>): number | undefined {
    this.#pages += 1;
    const keys: ReadonlyArray<unknown> = [
      ...item_list.map((item) => item[this.#itemId]),
      ...rowKeys(unreadable.map(({ fields }) => fields)),
    ];
    this.#noteTotals(total_item, total_page, keys.length === 0);
    const fresh = keys.filter((key) => !this.#listed.has(key));
    for (const key of fresh) this.#listed.add(key);
    this.#rows += fresh.length;
    this.#largestPage = Math.max(this.#largestPage, keys.length);
    const isNothingNew = fresh.length === 0;
    const isLastByTotals =
      total_page === undefined
        ? isNothingNew || (total_item !== undefined && this.#rows >= total_item)
        : this.#pages >= total_page &&
          // Pages may be counted at the size that was asked for, and be smaller.
          (isNothingNew || total_page * this.#largestPage >= (total_item ?? 0));
    const isLast =
      keys.length === 0 || (isLastByTotals && (isNothingNew || keys.length < this.#pageSize));
    return isLast ? undefined : this.#pages + 1;
  }

  /** Whether as many pages were read as the list says that it has: a further one may be answered with an error. */
  get hasAllPages(): boolean {
    return this.#pages >= (this.#totalPages ?? Number.POSITIVE_INFINITY);
  }

  /** The reason why a single page is not usable as evidence: it lacks totals, or items that it should have. */
  get pageFault(): string | undefined {
    return this.#fault;
  }

  #noteTotals(total: number | undefined, pages: number | undefined, isEmpty: boolean): void {
    if (total === undefined || pages === undefined) {
      this.#fault ??= `page ${this.#pages} does not say how many items and pages there are`;
    }
    if (isEmpty && total !== undefined && total > 0 && this.#pages <= Math.max(1, pages ?? 1)) {
      this.#fault ??= `page ${this.#pages} of ${pages ?? "?"} has no items, but total_item is ${total}`;
    }
    this.#totalPages = pages;
  }
}
