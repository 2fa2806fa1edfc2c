import {
  type Assumptions,
  type Page,
  readTime,
  rowKeys,
  type UnreadableRow,
} from "@durable-payments/api-core";

/** An item of a list, as far as every list shows it. */
export interface ListedItem {
  readonly create_time?: string | undefined;
}

/** What is kept of a page. */
export interface KeptPage<Item> extends Pick<
  Page<Item>,
  "total_item" | "total_page" | "unreadable"
> {
  readonly rows: ReadonlyArray<{ readonly id: string; readonly create_time?: string | undefined }>;
  /** Those of its items that may match. */
  readonly items: ReadonlyArray<Item>;
}

/** What a list is searched for. */
export interface SearchCriteria<Item> {
  readonly idOf: (item: Item) => string;
  /** What was created before does not matter: milliseconds since 1970. */
  readonly from: number;
  /** Whether an item is wanted whenever it was created; it ends the search. */
  readonly isOurs: (item: Item) => boolean;
  readonly assumptions: Assumptions;
}

/** What the pages that were read of a list show of what is searched for. */
export class ListedItems<Item extends ListedItem> {
  readonly #criteria: SearchCriteria<Item>;
  readonly #items = new Map<string, Item>();
  readonly #unreadable = new Map<string, UnreadableRow>();
  readonly #recent = new Set<string>();
  #hasOurs = false;
  #hasChanged = false;
  /** The ids of all rows. */
  readonly ids = new Set<string>();

  constructor(criteria: SearchCriteria<Item>) {
    this.#criteria = criteria;
  }

  /**
   * Takes in a page.
   *
   * @returns whether the search is over: what is ours was found, and this page shows nothing else
   *   that was created since, so that a second one that is ours is not to be expected.
   */
  add({ items, rows, unreadable }: Omit<KeptPage<Item>, "total_item" | "total_page">): boolean {
    const { idOf, isOurs } = this.#criteria;
    const shown = new Map(
      items
        .filter((item) => isOurs(item) || !this.#isOld(item.create_time))
        .map((item) => [idOf(item), item]),
    );
    const recent = rows.filter(({ create_time }) => !this.#isOld(create_time));
    for (const { id } of rows) {
      this.ids.add(id);
      if (this.#items.has(id) && !shown.has(id)) this.#hasChanged = true;
    }
    for (const { id } of recent) this.#recent.add(id);
    for (const [id, item] of shown) this.#items.set(id, item);
    const keys = rowKeys(unreadable.map(({ fields }) => fields));
    for (const [i, row] of unreadable.entries()) {
      if (!this.#isOld(row.fields["create_time"])) this.#unreadable.set(keys[i] ?? "", row);
    }
    this.#hasOurs ||= items.some(isOurs);
    const ours = new Set(items.filter(isOurs).map(idOf));
    return this.#hasOurs && recent.every(({ id }) => ours.has(id));
  }

  /** What is ours, and what may be and was created since, each id once, as it was shown last. */
  get items(): ReadonlyArray<Item> {
    return [...this.#items.values()];
  }

  /** Rows without an id that can be read, which may have been created since. */
  get unreadable(): ReadonlyArray<UnreadableRow> {
    return [...this.#unreadable.values()];
  }

  /** The ids of what may have been created since, in the list's order. */
  get recent(): ReadonlyArray<string> {
    return [...this.#recent];
  }

  /** Whether something of it is ours. */
  get hasOurs(): boolean {
    return this.#hasOurs;
  }

  /** Why it is no evidence, though all was read. */
  get fault(): string | undefined {
    return this.#hasChanged ? "an item was shown as it was sent, and then otherwise" : undefined;
  }

  /** Whether a time, or what stands in its place, is certainly before what matters. */
  #isOld(time: unknown): boolean {
    const { assumptions, from } = this.#criteria;
    const span = typeof time === "string" ? readTime(time, assumptions) : undefined;
    return span !== undefined && span.latest < from;
  }
}
