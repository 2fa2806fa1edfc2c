/*
 * Reads the list of payouts in a window of `create_time`, from the horizon of a send on, and decides whether the window
 * may be believed.
 *
 * A whole list costs what the account has ever paid, and cannot be read at all from some size on. A window costs what
 * was paid since. But a window that begins too late "proves" that a payout was not made, and then it is made twice. The
 * service may ignore the window, shift it, take its bound for another unit or zone, or filter by another time than
 * `create_time`. So a window alone proves nothing, and the whole list is read unless both are seen:
 *
 * 1. A known payout at its edge is listed in it, whose `create_time` is not after the horizon (`row-age.ts`). Whatever
 *    the service makes of the bound, a filter by `create_time` that lists it lists all later payouts: ours, too.
 * 2. The filter is by `create_time`. The newest known payout that has not completed is listed in the window, and not in a
 *    second window right after it. A filter by the time of completion lists it in neither, and if it has completed
 *    since, in both. The rows of the second window count as well.
 *
 * These filters pass both, and a quiet account has nothing that would show them:
 *
 * - By the time of completion, and late by exactly the time that each payout takes to complete (by two seconds).
 * - By `create_time`, but without payouts that have not completed, if no known payout is open.
 * - By `create_time`, but for some hours or days only, if the service's clock was set by more at the moment of the send.
 *
 * A row from before the window shows, too, that it is not honoured. No window has an end: a clock may be set ahead.
 *
 * A window that is honoured may still prove nothing, because payouts are made while its pages are read. Then it is read
 * again later: a whole list would change, too, and cost far more. But a service that counts the whole list never proves
 * a window. The total of the second window shows which it is.
 */
import {
  type Assumptions,
  inWindow,
  type Page,
  readTime,
  WINDOW_EDGE_MS,
} from "@durable-payments/client/effect";
import type { Ledger, WriteRow } from "@durable-payments/ledger";
import { ListReadings, type ListRead, type ListSource } from "./list-readings.ts";
import { horizonOf, type KnownRow, type SentWithin, SET_BACK_MS } from "./row-age.ts";

/**
 * Payouts of the ledger that are looked at to choose a window: as few as are enough. In an outage, the newest thousand
 * may have been sent with ours, and show nothing.
 */
const MOST_KNOWN = [20, 320, 5_120] as const;

/**
 * A window begins this much before the horizon, so that the payout at its edge is safely in it: payouts that are made
 * until it is read may show an earlier horizon, by as long as an answer takes.
 */
const MARGIN_MS = 60_000;

/**
 * Sends within this time are seen as one: the clock of the service may have been wrong for hours, and each send needs the
 * results that were made next to it.
 */
const TOGETHER_MS = 60_000;

/** The need of a reader of a shared reading. */
export interface Need extends SentWithin {
  readonly from: number;
  /** Whether a missing row shall prove something. */
  readonly isFinal: boolean;
}

/** A reading without its source. */
export type Rows<Item extends object> = Omit<ListRead<Item>, "source">;

/** A list that may be one of a window. */
interface WindowSource<Item extends object> extends ListSource<Item> {
  /** Undefined for the whole list. It resolves to all rows of a window that may be believed; all readers share them. */
  readonly prove?: (read: Rows<Item>) => Promise<Rows<Item> | undefined>;
}

/** Dependencies of the readings of windows. */
export interface WindowOptions<Item extends object> {
  readonly account: string;
  readonly assumptions: Assumptions;
  readonly ledger: Pick<Ledger, "owners"> & {
    readonly payoutsNear: (
      ...near: Parameters<Ledger["payoutsNear"]>
    ) => Promise<ReadonlyArray<Pick<WriteRow, "changedAt" | "createdAt" | "from" | "result">>>;
  };
  readonly list: Omit<ListSource<Item>, "read">;
  /** Reads a page of a window; without one, of the whole list. */
  readonly read: (page_num: number, window?: ReturnType<typeof inWindow>) => Promise<Page<Item>>;
}

/** Readings of a list of payouts in windows; each serves all who wait for it. */
export class WindowReadings<Item extends object> {
  readonly #given: WindowOptions<Item>;
  readonly #readings: ListReadings<Item, WindowSource<Item>, Need>;

  constructor(given: WindowOptions<Item>) {
    this.#given = given;
    this.#readings = new ListReadings((needs) => this.#open(needs));
  }

  /**
   * Reads the window of a write.
   *
   * @param isFinal whether a missing row shall prove that nothing was made.
   * @returns undefined if the whole list has to be read.
   */
  async read(
    { from, until }: WriteRow,
    isFinal: boolean,
    isOwn: (item: Item) => boolean,
  ): Promise<Rows<Item> | undefined> {
    if (from === null) return undefined;
    const read = await this.#readings.read(isOwn, { from, until, isFinal });
    const { prove } = read.source;
    if (prove === undefined || read.isTooLong || read.items.some(isOwn)) return read;
    // Rows that are added meanwhile matter only if something shall be proved.
    return isFinal ? prove(read) : { ...read, fault: undefined };
  }

  /** Returns the sends of which a reading shall prove something, those of a minute as one; or all, if it shall prove nothing. */
  protected sentOf(needs: ReadonlyArray<Need>): ReadonlyArray<Need> {
    const from = Math.min(...needs.map((need) => need.from));
    const finals = Map.groupBy(
      needs.filter((need) => need.isFinal),
      (need) => [need.from, need.until ?? 0].map((time) => Math.floor(time / TOGETHER_MS)).join(),
    );
    if (finals.size === 0) return [{ from, until: null, isFinal: false }];
    return [...finals.values()].map((some) => ({
      from: Math.min(...some.map((need) => need.from)),
      until: Math.max(...some.map(({ until }) => until ?? 0)),
      isFinal: true,
    }));
  }

  protected horizon(sent: SentWithin, known: ReadonlyArray<KnownRow>): number {
    return horizonOf(sent, known, this.#given.assumptions);
  }

  protected isAtEdge(created: unknown, horizon: number): boolean {
    return this.#latest(created) <= horizon;
  }

  /** Whether the second window, read whole if the payout has completed, shows that the filter is by `create_time`. */
  protected isByCreateTime(known: Item, second: Rows<Item>): boolean {
    const isWhole = second.fault === undefined || this.#completedAt(known) === undefined;
    return isWhole && !second.isRefused && !second.items.some(this.#isSame(known));
  }

  #spanOf(time: unknown) {
    return typeof time === "string" ? readTime(time, this.#given.assumptions) : undefined;
  }

  #latest(time: unknown): number {
    return this.#spanOf(time)?.latest ?? Infinity;
  }

  // Rows of the list are read by the names of their fields.
  readonly #createdOf = (item: Item) => (item as Readonly<Record<string, unknown>>)["create_time"];

  #completedAt(item: Item): number | undefined {
    return this.#spanOf((item as Readonly<Record<string, unknown>>)["complete_time"])?.earliest;
  }

  readonly #idOf = (item: Item): string => String(item[this.#given.list.idField]);

  readonly #isSame = (known: Item) => (item: Item) => this.#idOf(item) === this.#idOf(known);

  async #open(needs: ReadonlyArray<Need>): Promise<WindowSource<Item>> {
    const { list, read } = this.#given;
    const sends = this.sentOf(needs);
    const start = await this.#startOf(sends);
    if (start === undefined) return { ...list, read };
    let proof: Promise<Rows<Item> | undefined> | undefined;
    const isOutside = (item: Item) => this.#latest(this.#createdOf(item)) < start - WINDOW_EDGE_MS;
    return {
      ...list,
      read: (page) => read(page, inWindow("create_time", { from: start })),
      faultOf: ({ item_list }) =>
        item_list.some(isOutside) ? "it shows rows from before its window" : undefined,
      prove: (rows) => (proof ??= this.#prove(rows, sends)),
    };
  }

  /** Returns where the window begins that serves all; undefined if the ledger knows too few payouts. */
  async #startOf(sends: ReadonlyArray<Need>): Promise<number | undefined> {
    const { account, ledger } = this.#given;
    const knownOf = (rows: Awaited<ReturnType<typeof ledger.payoutsNear>>) =>
      rows.map(({ changedAt, createdAt, from, result }): KnownRow => ({
        created: result?.["create_time"],
        createdAt,
        from,
        recordedAt: changedAt,
      }));
    /** The newest known payouts since `time` or earlier, as many as it takes until they are `enough`. */
    const knownUntil = async <A>(
      time: number,
      enough: (known: ReadonlyArray<KnownRow>) => A | undefined,
    ): Promise<A | undefined> => {
      for (const limit of MOST_KNOWN) {
        const rows = await ledger.payoutsNear(account, "until", time, limit);
        const found = enough(knownOf(rows));
        if (found !== undefined || rows.length < limit) return found;
      }
      return undefined;
    };
    const horizonOfOne = async (sent: Need) => {
      const next = sent.until
        ? await ledger.payoutsNear(account, "after", sent.until, MOST_KNOWN[0])
        : [];
      const after = knownOf(next);
      return knownUntil(sent.from, (before) => {
        const horizon = this.horizon(sent, [...before, ...after]);
        return Number.isFinite(horizon) ? { before, horizon } : undefined;
      });
    };
    const all = await Promise.all(sends.map(horizonOfOne));
    const found = all.reduce(
      (one, other) => one && other && (other.horizon < one.horizon ? other : one),
    );
    if (found === undefined) return undefined;
    const { before, horizon } = found;
    // A reading that proves nothing needs neither a known payout at its edge nor a day of margin.
    if (sends[0]?.isFinal !== true) return horizon + SET_BACK_MS;
    const wanted = horizon - MARGIN_MS;
    const ahead = Math.min(...before.map((row) => this.#latest(row.created) - row.createdAt));
    const edge = await knownUntil(Math.floor(wanted - ahead), (rows) =>
      rows.find(({ created }) => this.#latest(created) <= wanted),
    );
    return this.#spanOf(edge?.created)?.earliest;
  }

  /** Proves that a window shows all since the horizon of these sends, by the known payouts in it. */
  async #prove(
    read: Rows<Item>,
    sends: ReadonlyArray<SentWithin>,
  ): Promise<Rows<Item> | undefined> {
    if (read.isRefused) return undefined;
    const { account, ledger } = this.#given;
    const owners = await ledger.owners(account, "createPayout", read.items.map(this.#idOf));
    const known = read.items.flatMap((item) => {
      const owner = owners.get(this.#idOf(item));
      const created = this.#createdOf(item);
      return owner === undefined ? [] : [{ ...owner, item, created }];
    });
    const horizon = Math.min(...sends.map((sent) => this.horizon(sent, known)));
    if (!known.some(({ created }) => this.isAtEdge(created, horizon))) return undefined;
    const after = (created: unknown) => this.#latest(created) + WINDOW_EDGE_MS;
    const newest = known
      .filter(({ created, item }) => (this.#completedAt(item) ?? Infinity) > after(created))
      .toSorted((one, other) => this.#latest(other.created) - this.#latest(one.created))[0];
    if (newest === undefined || after(newest.created) === Infinity) return undefined;
    const second = await this.#readFrom(after(newest.created), newest.item);
    if (!this.isByCreateTime(newest.item, second)) return undefined;
    // The second window has fewer rows. A whole list does not become shorter.
    if (read.fault !== undefined) return second.total < read.total ? read : undefined;
    const items = new Map([...read.items, ...second.items].map((item) => [this.#idOf(item), item]));
    const unreadable = [...read.unreadable, ...second.unreadable];
    return { ...read, items: [...items.values()], unreadable };
  }

  /** Reads the second window. If a filter by the time of completion does not show the payout there, a page is enough. */
  #readFrom(from: number, known: Item): Promise<Rows<Item>> {
    const { list, read } = this.#given;
    const isOpen = this.#completedAt(known) === undefined;
    const second = new ListReadings<Item>(() => ({
      ...list,
      mostPages: isOpen ? 1 : list.mostPages,
      read: (page) => read(page, inWindow("create_time", { from })),
    }));
    return second.read(this.#isSame(known));
  }
}
