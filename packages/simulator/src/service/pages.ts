import type { Unit } from "../ledger/ledger-store.ts";
import type { TemperamentInForceShape } from "../temperament/temperaments-in-force.ts";

interface Row {
  readonly create_time: string;
}

interface PageQuery {
  readonly page_num: number;
  readonly page_size: number;
}

interface Shown<Item> {
  /** In the order of the list, cut to the page by whoever asks. */
  readonly rows: ReadonlyArray<Item>;
  /** How many rows the page lacks that `total_item` counts. */
  readonly missing: number;
}

/** The rows that are old enough to be in the list, as far as this page is concerned. */
const caughtUp = <Item extends Row>(
  { current, lot }: TemperamentInForceShape,
  { now }: Unit,
  rows: ReadonlyArray<Item>,
  { idOf, page_num }: { readonly idOf: (row: Item) => string; readonly page_num: number },
): ReadonlyArray<Item> => {
  const { listLagBy = "list", listLagMs = 0 } = current();
  if (listLagMs === 0) return rows;
  const lagOf = (row: Item): number => {
    switch (listLagBy) {
      case "row":
        return listLagMs * lot("lag of row", idOf(row));
      case "page":
        return listLagMs * lot("lag of page", String(page_num));
      case "list":
        return listLagMs;
    }
  };
  const isYoung = (row: Item) => now - Date.parse(row.create_time) < listLagMs;
  return rows.filter((row) => !isYoung(row) || now - Date.parse(row.create_time) >= lagOf(row));
};

/** What is listed wrongly at this very request: rows that come, go, hide or show twice. */
const disturbed = <Item>(
  { current, happens, pick }: TemperamentInForceShape,
  rows: ReadonlyArray<Item>,
  { page_num, page_size }: PageQuery,
): Shown<Item> => {
  const { duplicateRows, omittedRows, omittedRowsCounted = true, shiftingPages } = current();
  const start = (page_num - 1) * page_size;
  const onPage = Math.min(page_size, rows.length - start);
  let shown = rows;
  let missing = 0;
  if (onPage > 0 && happens(duplicateRows)) {
    const at = start + pick(onPage);
    shown = [...shown.slice(0, at + 1), ...shown.slice(at)];
  }
  if (onPage > 0 && happens(omittedRows)) {
    shown = shown.toSpliced(start + pick(onPage), 1);
    if (omittedRowsCounted) missing = 1;
  }
  if (page_num > 1 && shown.length > 0 && happens(shiftingPages)) {
    // A row that came stands on a page before this one: only its room matters here.
    shown = pick(2) === 0 ? shown.slice(1) : [...shown.slice(0, 1), ...shown];
  }
  return { rows: shown, missing };
};

/**
 * A page of a list, of `oldestFirst` as far as the temperament in force shows them.
 * `total_item` and `total_page` go with what is shown, but for rows that are omitted and counted.
 */
export const pageOf = <Item extends Row, View>(
  temperament: TemperamentInForceShape,
  unit: Unit,
  oldestFirst: ReadonlyArray<Item>,
  query: PageQuery,
  { idOf, view }: { readonly idOf: (row: Item) => string; readonly view: (row: Item) => View },
) => {
  const { page_num, page_size } = query;
  const listed = caughtUp(temperament, unit, oldestFirst, { idOf, page_num });
  const { missing, rows } = disturbed(
    temperament,
    temperament.current().oldestFirst === true ? listed : listed.toReversed(),
    query,
  );
  const total_item = rows.length + missing;
  return {
    total_item,
    total_page: Math.ceil(total_item / page_size),
    item_list: rows.slice((page_num - 1) * page_size, page_num * page_size - missing).map(view),
    unreadable: [],
  };
};

/**
 * Whether a true time, ISO 8601, lies in a range of milliseconds by the service's clock, both ends
 * included; an unset time never does.
 */
export const isWithin = (
  { current }: TemperamentInForceShape,
  time: string | undefined,
  { end, start }: { readonly start?: number; readonly end?: number },
): boolean => {
  if (start === undefined && end === undefined) return true;
  if (time === undefined) return false;
  const at = Date.parse(time) + (current().clockOffsetMs ?? 0);
  return at >= (start ?? -Infinity) && at <= (end ?? Infinity);
};
