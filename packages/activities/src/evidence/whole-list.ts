/** What a page of a list says of how much the list holds. */
export interface CountedPage {
  /** The rows of the page, each by another text; see `rowKeys`. */
  readonly keys: ReadonlyArray<string>;
  readonly total_item?: number | undefined;
}

/**
 * Whether all that a list holds was read, whatever its order. Give it every page, in the order in
 * which they were read, over several readings.
 *
 * A list shifts while its pages are read: what is added, removed or moved to another place (its
 * status changes, and the list is grouped by it) can pull an item onto a page that has been read.
 * In a list of unknown order no single reading shows that this did not happen. What proves it:
 *
 * 1. At some moment, that of one page's answer, as many rows were known, each once, as that very
 *    page says that the list holds.
 * 2. Each of these rows was seen at that moment or after it, too.
 *
 * A row seen before and after a moment was listed at it, as what is removed does not come back. So
 * by (2) all known rows were in the list at that moment, by (1) they are as many as the list held,
 * and so they are all that it held: nothing that was listed before the first page was read, and
 * still was then, is unknown. Neither the order nor what was added counts: what is added makes
 * `total_item` exceed what is known, until a page shows it. What was removed is not seen again, so
 * that (2) fails, also where something else was added in its place.
 *
 * It takes for granted that a page's rows and its `total_item` are of one state of the list, and
 * that answers do not go back in time. Where they are seen to, as a total that falls, or as more
 * rows than the list holds, it is no evidence; nor is it after a removal.
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
      this.#fault ??= `${size} items were listed, total_item is ${total_item}`;
    } else if (size === total_item && this.#unconfirmed === undefined) {
      const shown = new Set(keys);
      this.#unconfirmed = new Set([...this.#known].filter((key) => !shown.has(key)));
    }
    this.#total = total_item ?? this.#total;
    return size - before;
  }

  /** Whether, at some moment, as many rows were known as the list held. */
  get isCounted(): boolean {
    return this.#unconfirmed !== undefined;
  }

  /** Whether all that the list held at that moment is known. */
  get isProved(): boolean {
    return this.#fault === undefined && this.#unconfirmed?.size === 0;
  }

  /** Whether it cannot be proved any more, however often it is read. */
  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** Why it is not proved, as far as it was read. */
  get fault(): string | undefined {
    if (this.#fault !== undefined) return this.#fault;
    if (this.#unconfirmed === undefined) {
      return `${this.#known.size} items were listed, total_item is ${this.#total}`;
    }
    const { size } = this.#unconfirmed;
    return size === 0 ? undefined : `${size} items that were listed are not listed any more`;
  }
}
