/** A page of a list, and the number of rows that it claims for the list. */
export interface CountedPage {
  /** The rows of the page, each by another text; see `rowKeys`. */
  readonly keys: ReadonlyArray<string>;
  readonly total_item?: number | undefined;
}

/**
 * Tracks whether a whole list was read, whatever its order. Give it every page, in the order of reading, over several
 * readings.
 *
 * A list shifts while its pages are read: a row that is added, removed or moved can pull another row onto a page that was
 * read already. A row moves if its status changes, and the list is grouped by status. If the order of the list is unknown, no single
 * reading proves that this did not happen. Two facts prove it:
 *
 * 1. At the moment of one page's answer, as many distinct rows were known as that page says that the list holds.
 * 2. Each of these rows was seen at that moment or later.
 *
 * A row seen before and after a moment was listed at that moment, because removed rows do not return. So by (2) all
 * known rows were in the list at that moment, and by (1) they were the whole list: every row that was listed before the
 * first page was read, and still at that moment, is known. Neither the order nor additions matter: an addition makes
 * `total_item` exceed the known rows until a page shows it. A removed row is not seen again, so (2) fails, even if
 * another row took its place.
 *
 * This assumes that a page's rows and its `total_item` belong to one state of the list, and that answers do not go back
 * in time. If they visibly do, or after a removal, then the list is not usable as evidence: a total falls, or more rows
 * appear than the list holds.
 */
export class WholeList {
  readonly #known = new Set<string>();
  /** Rows known when they were as many as the list held, and not seen since. */
  #unconfirmed: Set<string> | undefined;
  #total = 0;
  #fault: string | undefined;

  /** Takes in the page that was read next, and returns how many of its rows were not known before. */
  add({ keys, total_item }: CountedPage): number {
    const before = this.#known.size;
    for (const key of keys) {
      this.#known.add(key);
      this.#unconfirmed?.delete(key);
    }
    const { size } = this.#known;
    if (total_item === undefined) {
      this.#fault ??= "a page does not say how many items there are";
    } else if (total_item < this.#total) {
      this.#fault ??= `total_item fell from ${this.#total} to ${total_item} while the pages were read`;
    } else if (size > total_item) {
      this.#fault ??= `${size} items were listed, but total_item is ${total_item}`;
    } else if (size === total_item && this.#unconfirmed === undefined) {
      const shown = new Set(keys);
      this.#unconfirmed = new Set([...this.#known].filter((key) => !shown.has(key)));
    }
    this.#total = total_item ?? this.#total;
    return size - before;
  }

  /** The total of the page that was read last. */
  get total(): number {
    return this.#total;
  }

  /** Whether, at some moment, as many rows were known as the list held. */
  get isCounted(): boolean {
    return this.#unconfirmed !== undefined;
  }

  /** Whether all that the list held at that moment is known. */
  get isProved(): boolean {
    return this.#fault === undefined && this.#unconfirmed?.size === 0;
  }

  /** Whether no further reading can prove it. */
  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** The reason why it is not proved yet. */
  get fault(): string | undefined {
    if (this.#fault !== undefined) return this.#fault;
    if (this.#unconfirmed === undefined) {
      return `${this.#known.size} items were listed, but total_item is ${this.#total}`;
    }
    const { size } = this.#unconfirmed;
    return size === 0 ? undefined : `${size} items that were listed before are missing now`;
  }
}
