import type { ListTransactionsInput, Transaction } from "@durable-payments/client/effect";
import { ACCOUNT_NAME } from "./money.ts";
import type { Rows } from "./backlog.ts";
import type { RecordOf } from "./records.ts";
import type { Unit } from "./unit.ts";

/**
 * Returns a page of a list, the newest row first. A list may lag; `total_item` and `total_page` count the rows that it
 * shows.
 *
 * @param before further rows, all older: their number does not matter.
 */
export const pageOf = <Item extends { readonly create_time: string }, View>(
  { behaviour: { listLagMs = 0 }, now }: Unit,
  oldestFirst: ReadonlyArray<Item>,
  { page_num, page_size }: { readonly page_num: number; readonly page_size: number },
  view: (row: Item) => View,
  before?: Rows<Item>,
) => {
  const listed = oldestFirst
    .filter(({ create_time }) => now - Date.parse(create_time) >= listLagMs)
    .toReversed();
  const total_item = listed.length + (before?.length ?? 0);
  const first = (page_num - 1) * page_size;
  const rowAt = (place: number) => listed[place] ?? before?.at(total_item - 1 - place);
  const length = Math.max(0, Math.min(page_size, total_item - first));
  const rows = Array.from({ length }, (_, at) => rowAt(first + at));
  return {
    total_item,
    total_page: Math.ceil(total_item / page_size),
    item_list: rows.filter((row) => row !== undefined).map(view),
    unreadable: [],
  };
};

/** Whether a time, ISO 8601, is in a range of milliseconds, both ends included; a missing time never is. */
export const isWithin = (
  time: string | undefined,
  { end, start }: { readonly start?: number; readonly end?: number },
): boolean => {
  if (start === undefined && end === undefined) return true;
  if (time === undefined) return false;
  const at = Date.parse(time);
  return at >= (start ?? -Infinity) && at <= (end ?? Infinity);
};

/** Whether a row fits a filter, which may be missing. */
export const fits = <A>(filter: A | undefined, value: A): boolean =>
  filter === undefined || filter === value;

/** The statuses of transactions as the filter writes them. */
const STATUSES = { "-1": "failed", "0": "pending", "1": "completed", "2": "cancelled" } as const;

const transactionView = (record: RecordOf<"transactions">): Transaction => ({
  ...record,
  account_name: ACCOUNT_NAME,
  ...(record.complete_time === undefined ? {} : { settle_time: record.complete_time }),
});

/** Lists the movements of money. */
export const listTransactions = (unit: Unit, query: ListTransactionsInput) => {
  const { date_type = "create_time", transaction_status: status } = query;
  const matches = (row: RecordOf<"transactions">) =>
    query.scope !== "clients_account" &&
    fits(query.short_reference_id, row.short_reference_id) &&
    fits<string>(query.transaction_type, row.transaction_type) &&
    fits<string>(status && STATUSES[status], row.transaction_status) &&
    // Money settles when the movement completes.
    isWithin(date_type === "create_time" ? row.create_time : row.complete_time, query);
  return pageOf(unit, unit.all("transactions").filter(matches), query, transactionView);
};
